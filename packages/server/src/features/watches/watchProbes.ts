import type { LookupFunction } from "node:net"
import { systemClock } from "@tocsin/agent/clock/Clock"
import { readWatch } from "@tocsin/agent/watches/readWatch"
import { outputOfWatch } from "@tocsin/agent/watches/secretTexts"
import { judge, type ProbeTargets } from "@tocsin/agent/probes/Probe"
import { checkedLookup, NameLookup, TARGET_REFUSED } from "@tocsin/adapter-notify/http/Target"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { writtenOptions } from "@tocsin/contract/watches/probeProblems"
import { probesIn, type WatchProbe } from "@tocsin/contract/watches/WatchProbe"
import { type WatchTrial } from "@tocsin/contract/watches/Watches"
import { type SecretPlace, secretsOf } from "@tocsin/contract/watches/watchSecrets"
import { readNamedSecret } from "@tocsin/adapter-notify/receiverSecrets"
import { WatchProbes } from "@tocsin/core/kernel/ports/WatchProbes"
import { Effect, Layer, Result, Semaphore } from "effect"
import type { Settings } from "../../settings/Settings.ts"
import { refusalOf, watchProblem, targetsFor, watchTargets } from "./watchTargets.ts"

/** Probes at a time; further ones wait. A probe is mostly a socket that waits. */
const CONCURRENCY = 64

type Run = (signal: AbortSignal, targets: ProbeTargets) => Promise<Omit<WatchTrial, "duration_ms">>

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
  const read = readWatch(kind, writtenOptions(watch[kind] ?? {}))
  if ("problem" in read) return Result.fail(new ValidationError({ message: read.problem }))
  return Result.succeed(async (signal, targets) => {
    const { output, status } = judge(kind, await read.probe.run({ clock: systemClock, signal, targets }))
    return { status, output: outputOfWatch(output, secretsOf(watch)) }
  })
}

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
        Effect.catchDefect((defect) =>
          Effect.succeed({ status: "unknown" as const, output: outputOfWatch(String(defect)) }),
        ),
      )
      return { ...found, duration_ms: Math.round(systemClock.steady() - begun) }
    }, permits.withPermit),
  }
  return probes
})

export const watchProbes = (settings: Settings) => Layer.effect(WatchProbes, makeWatchProbes(settings))
