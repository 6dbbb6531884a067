import type { LookupFunction } from "node:net"
import { systemClock } from "@tocsin/agent/clock/Clock"
import { dns } from "@tocsin/agent/probes/dns"
import { http } from "@tocsin/agent/probes/http"
import { judge, type ProbeTargets } from "@tocsin/agent/probes/Probe"
import { ping } from "@tocsin/agent/probes/ping"
import { websocket } from "@tocsin/agent/probes/websocket"
import { tcp } from "@tocsin/agent/probes/tcp"
import { tls } from "@tocsin/agent/probes/tls"
import { checkedLookup, NameLookup, TARGET_REFUSED } from "@tocsin/adapter-notify/http/Target"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { cleanOutput } from "@tocsin/contract/formats/outputText"
import { writtenOptions } from "@tocsin/contract/watches/probeProblems"
import { probesIn, type WatchProbe } from "@tocsin/contract/watches/WatchProbe"
import { type WatchTrial } from "@tocsin/contract/watches/Watches"
import { type ProbeSecrets, type SecretPlace, secretsOf } from "@tocsin/contract/watches/watchSecrets"
import { readNamedSecret } from "@tocsin/adapter-notify/receiverSecrets"
import { withoutSecretTexts } from "./secretTexts.ts"
import { PAGE_ADDRESS } from "@tocsin/contract/watches/watchOfAddress"
import { WatchProbes } from "@tocsin/core/kernel/ports/WatchProbes"
import { Effect, Layer, Result, Semaphore } from "effect"
import type { Settings } from "../../settings/Settings.ts"
import { refusalOf, watchProblem, targetsFor, watchTargets } from "./watchTargets.ts"

/** Probes at a time; further ones wait. A probe is mostly a socket that waits. */
const CONCURRENCY = 64
/** An output has one line; the texts of a server may be long. */
const LONGEST_OUTPUT = 1_000

/** Days that are left, as a range of the agent: fewer are bad. */
const rangesOf = (days: { readonly warning?: number; readonly critical?: number } = {}): object =>
  Object.fromEntries(Object.entries(days).map(([name, least]) => [name, `${least}:`]))

const optionsOf = (
  kind: keyof WatchProbe,
  {
    days,
    timeout,
    ...options
  }: {
    readonly timeout?: string
    readonly days?: { readonly warning?: number; readonly critical?: number }
  },
): object => ({
  ...options,
  ...(days !== undefined && (kind === "tls" ? rangesOf(days) : { days: rangesOf(days) })),
  ...(timeout !== undefined && { wait: timeout }),
})

type Run = (signal: AbortSignal, targets: ProbeTargets) => Promise<Omit<WatchTrial, "duration_ms">>

const PROBES = { http, tcp, tls, dns, ping, websocket }

const readOptions = (name: keyof typeof PROBES, options: object): Result.Result<Run, ValidationError> => {
  const problems: Array<string> = []
  const read = PROBES[name](options, {
    path: [],
    refuse: (message, path = []) => void problems.push(`${[name, ...path].join(".")} ${message}`),
  })
  if (read === undefined || problems.length > 0)
    return Result.fail(new ValidationError({ message: problems.join("; ") }))
  return Result.succeed(async (signal, targets) => {
    const { output, status } = judge(name, await read.run({ clock: systemClock, signal, targets }))
    return { status, output: cleanOutput(output).slice(0, LONGEST_OUTPUT).toWellFormed() }
  })
}

/** A lookup whose refusals name the settings. */
const explaining =
  (lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, options, (error, ...found) =>
      callback(
        error?.code?.startsWith(TARGET_REFUSED) === true ? new Error(`${hostname} ${NO_ADDRESS}`) : error,
        ...found,
      ),
    )

const NO_ADDRESS =
  "has no address that a watch may reach: see SERVICE_WATCH_LOOPBACK and SERVICE_DENY_PRIVATE_TARGETS"

const readProbe = (watch: WatchProbe): Result.Result<Run, ValidationError> => {
  const [kind = "http"] = probesIn(watch)
  const read = readOptions(kind, optionsOf(kind, writtenOptions(watch[kind] ?? {})))
  // The agent takes the address of a page with a user.
  if (Result.isFailure(read) || watch.http === undefined || PAGE_ADDRESS.test(watch.http.url)) return read
  return Result.fail(new ValidationError({ message: "http.url must not contain a user: use auth" }))
}

/** Replaces secrets in an output. */
const hiding =
  (secrets: ProbeSecrets | undefined) =>
  (trial: Omit<WatchTrial, "duration_ms">): Omit<WatchTrial, "duration_ms"> =>
    secrets === undefined ? trial : { ...trial, output: withoutSecretTexts(trial.output, secrets) }

/** The secrets at the places that a policy names. */
const openSecrets =
  (folder: string | undefined): WatchProbes["open"] =>
  ({ auth, headers, ...others }) => {
    const lacking: Array<string> = []
    const read = (given: string | SecretPlace): string => {
      if (typeof given === "string") return given
      const found = readNamedSecret(given, folder)
      if (Result.isSuccess(found)) return found.success
      const [[kind, name]] = Object.entries(given) as [[string, string]]
      lacking.push(`${kind === "env" ? "the variable" : "the file"} ${name}`)
      return ""
    }
    const { basic, bearer } = auth ?? {}
    const secrets = {
      ...others,
      ...(headers && {
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, read(value)])),
      }),
      ...(bearer !== undefined && { auth: { bearer: read(bearer) } }),
      ...(basic && { auth: { basic: { user: read(basic.user), password: read(basic.password) } } }),
    }
    return lacking.length === 0
      ? Result.succeed(secrets)
      : Result.fail(
          `no server has ${lacking.join(" and ")}, which the policy names for this watch: set it on one`,
        )
  }

/** The probes of the agent, with targets as these settings allow them (docs/rules.md#watches). */
export const makeWatchProbes = Effect.fnUntraced(function* (settings: Settings) {
  const names = yield* NameLookup
  const targetsOf = (watch: WatchProbe) => {
    const policy = targetsFor(watchTargets(settings), watch)
    return {
      lookup: explaining(checkedLookup(names, policy)),
      refusalOf: (address: string) => refusalOf(address, policy),
    }
  }
  const permits = yield* Semaphore.make(CONCURRENCY)
  const probes: WatchProbes = {
    open: openSecrets(settings.SERVICE_SECRETS_DIR),
    check: Effect.fnUntraced(function* (watch) {
      yield* Effect.fromResult(readProbe(watch))
      const problem = watchProblem(watchTargets(settings))(watch)
      if (problem !== undefined)
        return yield* new ValidationError({ message: `${fieldPath(problem.path)} ${problem.message}` })
    }),
    run: Effect.fnUntraced(function* (watch) {
      const run = yield* Effect.fromResult(readProbe(watch))
      const begun = systemClock.steady()
      const found = yield* Effect.promise((signal) => run(signal, targetsOf(watch))).pipe(
        Effect.map(hiding(secretsOf(watch))),
        Effect.catchDefect((defect) =>
          Effect.succeed({ status: "unknown" as const, output: String(defect).slice(0, LONGEST_OUTPUT) }),
        ),
      )
      return { ...found, duration_ms: Math.round(systemClock.steady() - begun) }
    }, permits.withPermit),
  }
  return probes
})

export const watchProbes = (settings: Settings) => Layer.effect(WatchProbes, makeWatchProbes(settings))
