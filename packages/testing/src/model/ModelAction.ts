import type { CheckStatus, NotifierKind, Severity } from "@tocsin/contract/formats/Status"
import { type SilenceAct, silenceActs } from "./SilenceAct.ts"
import type { AttemptResult } from "@tocsin/core/heart/notifications/recordResults"
import * as fc from "fast-check"
import { type ExpectationPlan, expectationPlans } from "./ExpectationPlan.ts"
import { type Look, look } from "./EvaluationView.ts"
import { type AgentName, AGENTS, type CheckName, CHECKS, type KeyName, KEYS } from "./ModelNames.ts"

/** One event; `id` is that of the n-th event sent before, if there was one. */
export interface EventPlan {
  readonly check: CheckName
  readonly status: CheckStatus
  readonly exit: number
  /** Microseconds after now. */
  readonly observed: number
  readonly output: string | undefined
  readonly incident_key: string | undefined
  readonly silent: boolean
  readonly id: number | "new"
}

/** Something that happens to a storage. Plain data, so that a counterexample reads like a scenario. */
export type ModelAction =
  | {
      readonly act: "heartbeat"
      readonly agent: AgentName
      readonly key: KeyName
      readonly observed: number
      readonly labels: boolean
      readonly metrics: boolean
      readonly hostname: string
    }
  | {
      readonly act: "events"
      readonly agent: AgentName
      readonly key: KeyName
      readonly events: ReadonlyArray<EventPlan>
    }
  | {
      readonly act: "declare"
      readonly agent: AgentName
      readonly key: KeyName
      readonly checks: ReadonlyArray<ExpectationPlan<CheckName>>
      readonly complete: boolean
    }
  | { readonly act: "lookForOverdue" }
  | { readonly act: "sendAgain"; readonly nth: number }
  | { readonly act: "enroll"; readonly agent: AgentName }
  | { readonly act: "accept" | "block" | "remove"; readonly agent: AgentName }
  | { readonly act: "acceptAll"; readonly includeRotation: boolean }
  | { readonly act: "blockAll" | "removeAll" | "unblockAll" }
  | { readonly act: "unblock"; readonly nth: number }
  | { readonly act: "resetClock" | "removeCheck"; readonly agent: AgentName; readonly check: CheckName }
  | { readonly act: "claim"; readonly receivers: ReadonlyArray<NotifierKind>; readonly isLost: boolean }
  | { readonly act: "deliver"; readonly outcome: AttemptResult["outcome"] }
  | { readonly act: "settle"; readonly nth: number; readonly outcome: AttemptResult["outcome"] }
  | { readonly act: "resend"; readonly settled: number; readonly isLost: boolean }
  | { readonly act: "replay"; readonly nth: number }
  | { readonly act: "discardUnclaimed"; readonly notifier: NotifierKind }
  | {
      readonly act: "acknowledge"
      readonly nth: number
      readonly seconds: number
      readonly severity: Severity | undefined
    }
  | { readonly act: "withdraw" | "note"; readonly nth: number }
  | SilenceAct
  | { readonly act: "evaluateDue" | "purge"; readonly limit: number }
  | { readonly act: "service_heartbeat" | "sweep" | "removeIdle" }
  | {
      readonly act: "expire"
      readonly history: number | undefined
      readonly incidents: number | undefined
      readonly outbox: number | undefined
      /** Rows of a piece. */
      readonly limit: number
    }
  | { readonly act: "wait"; readonly seconds: number }
  | { readonly act: "look"; readonly look: Look }
  | { readonly act: "compare" }

const SECOND = 1_000_000
const HOUR = 3_600 * SECOND

const agent = fc.constantFrom(...AGENTS)
const key = fc.oneof(
  { weight: 8, arbitrary: fc.constant("own" as const) },
  { weight: 4, arbitrary: fc.constantFrom("next" as const, "third" as const) },
  { weight: 1, arbitrary: fc.constantFrom(...KEYS) },
)
const eventKey = fc.oneof(
  { weight: 12, arbitrary: fc.constant("own" as const) },
  { weight: 1, arbitrary: key },
)
const observed = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 6, arbitrary: fc.constantFrom(1, SECOND, -1, -SECOND) },
  { weight: 1, arbitrary: fc.constantFrom(HOUR, -HOUR, 2 * HOUR) },
)
const status = fc.constantFrom<CheckStatus>("ok", "warning", "critical", "unknown")
const maybe = <A>(arbitrary: fc.Arbitrary<A>, oneIn = 2): fc.Arbitrary<A | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: oneIn })
const notifier = fc.constantFrom<NotifierKind>("debug", "alert_router", "messenger")
const isLost = fc.oneof(
  { weight: 3, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
)
const outcome = fc.constantFrom<AttemptResult["outcome"]>(
  "delivered",
  "delivered",
  "deferred",
  "refused",
  "released",
  "unsent",
)
/** Seconds before now; absent for ever. */
const age = maybe(fc.constantFrom(0, 120, 3_600))
const nth = fc.nat({ max: 30 })

const eventPlan: fc.Arbitrary<EventPlan> = fc.record({
  check: fc.constantFrom(...CHECKS),
  status,
  exit: fc.constantFrom(0, 0, 0, 1, -7),
  observed,
  output: maybe(
    fc.constantFrom("", "one line", "another line", "first\nsecond", "\r\nno first line", "é".repeat(600)),
    4,
  ),
  // The last is the text of an automatic key.
  incident_key: maybe(fc.constantFrom("shared", "shared too", "a/disk")),
  silent: fc.boolean(),
  id: fc.oneof({ weight: 6, arbitrary: fc.constant("new" as const) }, { weight: 1, arbitrary: nth }),
})

const weighted = <A>(weight: number, arbitrary: fc.Arbitrary<A>) => ({ weight, arbitrary })

const action: fc.Arbitrary<ModelAction> = fc.oneof(
  weighted(
    8,
    fc.record({
      act: fc.constant("heartbeat" as const),
      agent,
      key,
      observed,
      labels: fc.boolean(),
      metrics: fc.boolean(),
      // Mostly one, so that heartbeats differ in one thing alone.
      hostname: fc.constantFrom("one", "one", "two"),
    }),
  ),
  weighted(
    20,
    fc.record({
      act: fc.constant("events" as const),
      agent,
      key: eventKey,
      events: fc.array(eventPlan, { minLength: 1, maxLength: 6 }),
    }),
  ),
  weighted(
    5,
    fc.record({
      act: fc.constant("declare" as const),
      agent,
      key: eventKey,
      checks: expectationPlans(CHECKS),
      complete: fc.boolean(),
    }),
  ),
  weighted(6, fc.record({ act: fc.constant("lookForOverdue" as const) })),
  weighted(3, fc.record({ act: fc.constant("sendAgain" as const), nth })),
  weighted(5, fc.record({ act: fc.constant("enroll" as const), agent })),
  weighted(3, fc.record({ act: fc.constant("accept" as const), agent })),
  weighted(2, fc.record({ act: fc.constantFrom("block" as const, "remove" as const), agent })),
  weighted(3, fc.record({ act: fc.constant("acceptAll" as const), includeRotation: fc.boolean() })),
  weighted(
    1,
    fc.record({ act: fc.constantFrom("blockAll" as const, "removeAll" as const, "unblockAll" as const) }),
  ),
  weighted(1, fc.record({ act: fc.constant("unblock" as const), nth })),
  weighted(
    2,
    fc.record({
      act: fc.constantFrom("resetClock" as const, "removeCheck" as const),
      agent,
      check: fc.constantFrom(...CHECKS),
    }),
  ),
  weighted(
    5,
    fc.record({
      act: fc.constant("claim" as const),
      receivers: fc.constantFrom<ReadonlyArray<NotifierKind>>(
        ["debug"],
        ["alert_router"],
        ["debug", "alert_router"],
      ),
      isLost,
    }),
  ),
  weighted(6, fc.record({ act: fc.constant("deliver" as const), outcome })),
  weighted(3, fc.record({ act: fc.constant("settle" as const), nth, outcome })),
  weighted(3, fc.record({ act: fc.constant("resend" as const), settled: fc.nat({ max: 3 }), isLost })),
  weighted(1, fc.record({ act: fc.constant("replay" as const), nth })),
  weighted(1, fc.record({ act: fc.constant("discardUnclaimed" as const), notifier })),
  weighted(
    3,
    fc.record({
      act: fc.constant("acknowledge" as const),
      nth,
      seconds: fc.constantFrom(60, 3_600),
      severity: maybe(fc.constantFrom<Severity>("warning", "critical", "unknown"), 4),
    }),
  ),
  weighted(2, fc.record({ act: fc.constantFrom("withdraw" as const, "note" as const), nth })),
  weighted(4, silenceActs(AGENTS)),
  weighted(3, fc.record({ act: fc.constant("evaluateDue" as const), limit: fc.constantFrom(1, 500, 500) })),
  weighted(
    5,
    fc.record({
      act: fc.constantFrom(...(["service_heartbeat", "sweep", "removeIdle"] as const)),
    }),
  ),
  weighted(
    1,
    fc.record({
      act: fc.constant("expire" as const),
      history: age,
      incidents: age,
      outbox: age,
      limit: fc.constantFrom(1, 3, 1_000),
    }),
  ),
  weighted(
    5,
    fc.record({
      act: fc.constant("wait" as const),
      seconds: fc.constantFrom(0.000001, 1, 61, 100, 100, 120, 301, 301, 3_600, 90_000),
    }),
  ),
  weighted(2, fc.record({ act: fc.constant("purge" as const), limit: fc.constantFrom(1, 2, 5, 1_000) })),
  weighted(6, fc.record({ act: fc.constant("look" as const), look })),
  weighted(2, fc.record({ act: fc.constant("compare" as const) })),
)

const enrolled: ReadonlyArray<ModelAction> = [
  ...AGENTS.slice(0, 3).map((agent_id) => {
    const [act, key] = ["heartbeat", "own"] as const
    return { act, key, agent: agent_id, observed: 0, labels: true, metrics: false, hostname: "one" } as const
  }),
  { act: "acceptAll", includeRotation: false },
]

/** A scenario: it starts with three accepted agents, or with nothing. */
export const modelActions: fc.Arbitrary<ReadonlyArray<ModelAction>> = fc
  .tuple(
    fc.oneof(weighted(4, fc.constant(true)), weighted(1, fc.constant(false))),
    fc.array(action, { minLength: 1, maxLength: 60, size: "max" }),
  )
  .map(([isEnrolled, actions]) => (isEnrolled ? [...enrolled, ...actions] : actions))
