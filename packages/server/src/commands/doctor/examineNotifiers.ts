import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { undeliveredMoments } from "@tocsin/core/heart/health/HealthExamination"
import type { ReplicaRecord } from "@tocsin/core/heart/model/ReplicaRecord"
import { isEmptyPolicy, type PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { Receivers } from "@tocsin/core/heart/notifications/Receivers"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { type Notifier, type TestReceipt, WatchdogReceiver } from "@tocsin/core/heart/notifications/Notifiers"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { currentReceivers, servedReceivers } from "@tocsin/core/heart/replicas/listedReceivers"
import { liveReplicas } from "@tocsin/core/heart/replicas/replicaState"
import type { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Duration, Effect, Redacted, Result, type Scope } from "effect"
import { linkAdvice } from "../../features/links/links.ts"
import { type LoadedPolicy, loadPolicy } from "../../policy/loadPolicy.ts"
import { NOTIFIER_ADDRESSES } from "../../rules.ts"
import type { Settings } from "../../settings/Settings.ts"
import { watchdogReceiver } from "../../notifiers.ts"
import { attention, failed, type Finding, type Findings, ok } from "./Finding.ts"
import { replicaFindings } from "./replicaFindings.ts"
import { deadLetters, deliveryFindings, failingReceivers, waitingForNone } from "./deliveryFindings.ts"

/** The receivers that the doctor examines, and who names them. */
export interface ExaminedReceivers {
  readonly document: PolicyDocument
  readonly findings: Findings
  readonly names: ReadonlyArray<NotifierName>
  readonly source: "this shell's settings" | "the stored policy"
}

/** Says whose receivers are examined, where the running servers may have others. */
export const sourceFindings = (
  { names, source }: Pick<ExaminedReceivers, "names" | "source">,
  live: ReadonlyArray<Pick<ReplicaRecord, "receivers">>,
): Findings => {
  const served = Array.from(new Set(live.flatMap(({ receivers }) => currentReceivers(receivers)))).toSorted()
  if (live.length > 0 && served.join() === names.toSorted().join()) return []
  const examined = `the receivers examined here are those of ${source}`
  if (live.length > 0)
    return [ok("receivers", `the running servers send to ${served.join(", ") || "none"}; ${examined}`)]
  return source === "the stored policy"
    ? []
    : [ok("receivers", `${examined}; a policy in force may replace those of SERVICE_* settings`)]
}

/** Whether notifications go out, by one policy and to these receivers. */
export const examineDelivery = Effect.fnUntraced(function* (receivers: ExaminedReceivers) {
  const storage = yield* Storage
  const inForce = yield* Receivers
  const undelivered = yield* undeliveredMoments(storage, inForce)
  const replicas = yield* storage.replicas
  const now = yield* Instant.now
  const givenUp = yield* deadLetters(storage, inForce.current(), now)
  const live = liveReplicas(replicas, now)
  const failing = yield* failingReceivers(storage, servedReceivers(inForce.current(), replicas, now))
  // Where no server runs, this shell's receivers count.
  const usable = servedReceivers(live.length === 0 ? inForce.current() : new Map(), replicas, now)
  const waiting = yield* waitingForNone(storage, live, usable)
  return [
    ...deliveryFindings({ undelivered, givenUp, failing, waiting }, now),
    ...replicaFindings(replicas, now),
    ...sourceFindings(receivers, live),
  ]
})

/** Scheme, host and port; the origin of a mail server's address is "null". */
const originOf = (address: Redacted.Redacted): string => {
  const url = URL.parse(Redacted.value(address))
  return url === null ? "" : `${url.protocol}//${url.host}`
}

/** Where a notifier sends, as far as it may be shown (docs/rules.md#targets): its origin. */
const targetOf = (receiver: NotifierName, settings: Settings): string => {
  const [ofModule] = settings.extensions?.notifiers.find(([, { name }]) => name === receiver) ?? []
  if (ofModule !== undefined) return `the notifier of ${ofModule}`
  const [name] = Object.entries(NOTIFIER_ADDRESSES).find(([known]) => known === receiver)?.[1] ?? []
  if (receiver === "pagerduty") return "PagerDuty"
  const address = name === "SERVICE_EMAIL_TO" ? settings.SERVICE_SMTP_URL : name && settings[name]
  return address === undefined ? "Telegram" : originOf(address)
}

const outcomeOf = (
  check: string,
  { result, status }: TestReceipt,
  { target, sent }: { readonly target: string; readonly sent: string },
): Finding => {
  const answer = status === undefined ? "" : ` (status ${status})`
  if (result.outcome === "delivered") {
    const accepted = `${target} accepted ${sent}${answer}`
    return result.error === undefined
      ? ok(check, accepted)
      : attention(check, `${accepted}, but not for every recipient; correct them: ${result.error}`)
  }
  return failed(check, `${target} did not accept ${sent}: ${result.error}`, "failed")
}

interface Examined {
  readonly check: string
  readonly target: string
  readonly notifier: Notifier
}

const examine = Effect.fnUntraced(function* ({ check, notifier, target }: Examined, isTested: boolean) {
  if (notifier.kind === "debug") {
    return ok(check, "notifications go to the server's log only")
  }
  if (isTested) return outcomeOf(check, yield* notifier.test, { target, sent: "the test message" })
  return notifier.caution !== undefined
    ? attention(check, `${notifier.caution}: others on the way can read and change them`)
    : ok(check, `sends to ${target}; --send-test sends a message there`)
})

/** The receivers in use: those that the policy defines, or else the notifiers of the settings. */
const examinedOf = (settings: Settings, { document, receivers }: LoadedPolicy): ReadonlyArray<Examined> => {
  const defined = new Map(Object.entries(document.receivers ?? {}))
  return Array.from(receivers, ([name, notifier]) => {
    const definition = defined.get(name)
    return definition === undefined
      ? { check: `notifier ${name}`, target: targetOf(name, settings), notifier }
      : { check: `receiver ${name}`, target: `its ${definition.kind}`, notifier }
  })
}

const examineEach = (settings: Settings, loaded: LoadedPolicy, isTested: boolean): Effect.Effect<Findings> =>
  Effect.forEach(examinedOf(settings, loaded), (examined) => examine(examined, isTested), {
    concurrency: "unbounded",
  })

/** Receivers whose messages would have links, and have none. */
export const linkFindings = (settings: Settings, document: PolicyDocument): Findings => {
  const advice = linkAdvice(settings, document)
  return advice === undefined
    ? []
    : [attention("links", `${advice}; ignore this if the servers get it elsewhere`)]
}

/** The receivers of the policy that the storage keeps. */
export const examineStoredReceivers = Effect.fnUntraced(function* (
  settings: Settings,
  isTested: boolean,
): Effect.fn.Return<ExaminedReceivers, never, PolicyInForce | Receivers> {
  const inForce = (yield* PolicyInForce).current()
  const { document, outdated = [], unavailable = new Map<NotifierName, string>() } = inForce
  const receivers = (yield* Receivers).current()
  const unread = Array.from(unavailable, ([name, reason]) =>
    attention(`receiver ${name}`, `${reason}; ignore this if the servers get it elsewhere`),
  )
  const problems = outdated.map(({ line, message, path }) =>
    attention("policy", `correct line ${line} of the stored policy, and apply it again: ${path} ${message}`),
  )
  const valid = isEmptyPolicy(document) ? [] : [ok("policy", "the stored policy is valid")]
  const policy = problems.length > 0 ? problems : valid
  const each = yield* examineEach(settings, { document, receivers }, isTested)
  return {
    document,
    findings: [...policy, ...unread, ...each],
    names: Array.from(new Set([...receivers.keys(), ...unavailable.keys()])),
    source: document.receivers === undefined ? "this shell's settings" : "the stored policy",
  }
})

/** The policy file, if there is one, and all receivers; with `isTested` each sends a message marked as a test. */
export const examineReceivers = Effect.fnUntraced(
  function* (
    settings: Settings,
    isTested: boolean,
  ): Effect.fn.Return<ExaminedReceivers, never, Ids | Scope.Scope> {
    const loaded = yield* Effect.result(loadPolicy(settings))
    if (Result.isFailure(loaded)) {
      const { failure } = loaded
      const { message } = failure
      const findings =
        failure._tag === "BadPolicy"
          ? failure.lines.map((line) => failed("policy", `${line}; see docs/policy.md`, "failed"))
          : [failed("receivers", message, "failed")]
      return { document: {}, findings, names: [], source: "this shell's settings" }
    }
    const policy =
      settings.SERVICE_POLICY_FILE === undefined ? [] : [ok("policy", "the policy file is valid")]
    const each = yield* examineEach(settings, loaded.success, isTested)
    return {
      document: loaded.success.document,
      findings: [...policy, ...each],
      names: Array.from(loaded.success.receivers.keys()),
      source: "this shell's settings",
    }
  },
  (effect) => Effect.scoped(Effect.provide(effect, RandomIds.layer)),
)

/** The receiver of watchdog pings; with `isTested` one watchdog ping is sent, which counts there like any other. */
export const examineWatchdog = Effect.fnUntraced(function* (settings: Settings, isTested: boolean) {
  const receiver = watchdogReceiver(settings)
  const address = settings.SERVICE_WATCHDOG_URL
  if (receiver === undefined || address === undefined) return [] satisfies Findings
  const target = originOf(address)
  if (!isTested) {
    const interval = Duration.format(settings.SERVICE_WATCHDOG_INTERVAL)
    return [ok("watchdog", `goes to ${target} every ${interval}; --send-test sends one there`)]
  }
  const send = Effect.flatMap(WatchdogReceiver, (watchdog) => watchdog.send({ isWell: true }))
  return [outcomeOf("watchdog", yield* Effect.provide(send, receiver), { target, sent: "a watchdog ping" })]
})
