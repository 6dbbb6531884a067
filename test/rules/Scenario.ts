import { Arbitrary } from "effect"
import type { CheckStatus, NotifierName } from "@tocsin/contract/formats/Status"
import { boolean, integer, oneOf, weighted, type Weighted } from "../properties/arbitraries.ts"

/** An event of a batch before it has an ID and a time. */
export interface EventDraft {
  /**
   * A new ID; an ID that any other events share; an ID that only events of other checks or agents
   * share (if this check had it, that event again); or the event that is `again` places earlier.
   */
  readonly id:
    | "new"
    | { readonly shared: number }
    | { readonly sharedByChecks: number }
    | { readonly again: number }
  readonly check_id: string
  /**
   * How many seconds before the step it was observed; the steps are a second apart by the agents'
   * clocks.
   */
  readonly lagSeconds: number
  readonly status: CheckStatus
  readonly exit_code: number
  readonly output: string | undefined
  readonly notifications_enabled: boolean
  readonly incident_key: string | undefined
}

/** Something that happens to the service. Numbers named `which` select from the existing rows. */
export type Step =
  | { readonly step: "wait"; readonly millis: number }
  | {
      readonly step: "heartbeat"
      readonly agent_id: string
      readonly key: string
      readonly lagSeconds: number
      readonly hostname: string
    }
  | Batch
  | { readonly step: "replay"; readonly which: number }
  | { readonly step: "accept" | "block" | "remove"; readonly agent_id: string }
  | { readonly step: "accept_all"; readonly includeRotation: boolean }
  | { readonly step: "block_all" | "remove_all" | "unblock_all" | "purge" | "sweep" }
  | { readonly step: "unblock"; readonly which: number }
  /**
   * The service restarts, with or without the last key of {@link KEYS} among the accepted
   * fingerprints.
   */
  | { readonly step: "restart"; readonly preseeded: boolean }
  | { readonly step: "reset_clock" | "remove_check"; readonly which: number }
  | { readonly step: "deliver"; readonly which: number; readonly answer: Answer }

interface Batch {
  readonly step: "batch"
  readonly agent_id: string
  readonly key: string
  readonly events: ReadonlyArray<EventDraft>
}

/** How an outbox item moves: see `deliveryTrigger`. */
export type Answer = "delivered" | "deferred" | "refused" | "notifier_gone"

/** The agents of a scenario; some names trip code that takes an object for a map. */
export const AGENTS = ["a", "a.b", "constructor"] as const

/** The agent keys of a scenario. The agent of the same position usually has it. */
export const KEYS = ["key 1", "key 2", "key 3", "key 4"] as const

const CHECKS = ["disk", "__proto__", "b:disk"] as const

const LONG_LINE = `${"é😀".repeat(300)} end`

const draft = (checks: ReadonlyArray<string>, id: Arbitrary.Arbitrary<EventDraft["id"]>) =>
  Arbitrary.all({
    id,
    check_id: oneOf(...checks),
    lagSeconds: integer(-1, 2),
    status: oneOf("ok", "critical", "warning", "unknown"),
    exit_code: integer(0, 1),
    output: oneOf(undefined, "one", "two\nlines", "\r\nnothing in the first", "", LONG_LINE),
    notifications_enabled: weighted([3, Arbitrary.Constant(true)], [1, Arbitrary.Constant(false)]),
    incident_key: weighted<string | undefined>(
      [4, Arbitrary.Constant(undefined)],
      [4, Arbitrary.Constant("shared")],
      [1, Arbitrary.Constant("other")],
      // Equal as text to an automatic key.
      [2, Arbitrary.Constant(`${AGENTS[0]}/${CHECKS[0]}`)],
    ),
  })

const newId = Arbitrary.Constant("new" as const)
const again = Arbitrary.map(integer(1, 4), (places) => ({ again: places }))
const shared = Arbitrary.map(integer(0, 3), (number) => ({ shared: number }))

const sharedByChecks = Arbitrary.map(integer(0, 3), (number) => ({ sharedByChecks: number }))

/** Ids as senders that keep to the contract draw them: new ones, and sometimes an event twice. */
const properId = weighted<EventDraft["id"]>([7, newId], [1, again])
/** Those, and ids that events of other checks, of the same or another agent, have too. */
const idPerCheck = weighted<EventDraft["id"]>([7, newId], [1, again], [2, sharedByChecks])
/** Those, and ids that other events of the same check have too. */
const anyId = weighted<EventDraft["id"]>([7, newId], [1, again], [2, shared])

const ownKey = Arbitrary.map(integer(0, AGENTS.length - 1), (at) => ({
  agent_id: AGENTS[at] ?? AGENTS[0],
  key: KEYS[at] ?? KEYS[0],
}))
const anyKey = Arbitrary.all({ agent_id: oneOf(...AGENTS), key: oneOf(...KEYS) })
type Sender = Arbitrary.Arbitrary<{ readonly agent_id: string; readonly key: string }>
const usuallyFirst: Sender = weighted<{ readonly agent_id: string; readonly key: string }>(
  [4, Arbitrary.Constant({ agent_id: AGENTS[0], key: KEYS[0] })],
  [1, ownKey],
)
const usuallyOwnKey: Sender = weighted<{ readonly agent_id: string; readonly key: string }>(
  [6, ownKey],
  [1, anyKey],
)

const which = integer(0, 40)

const wait = Arbitrary.map(
  oneOf(1, 1_000, 59_999, 60_000, 299_999, 300_000, 3_599_999, 3_600_000),
  (millis): Step => ({ step: "wait", millis }),
)
const heartbeatOf = (sender: Sender) =>
  Arbitrary.map(
    Arbitrary.all({ sender, lagSeconds: integer(-1, 3), hostname: oneOf("h1", "h2", "h3") }),
    ({ sender, ...said }): Step => ({ step: "heartbeat", ...sender, ...said }),
  )
const batchOf = (maxLength: number, event: Arbitrary.Arbitrary<EventDraft>, sender: Sender = usuallyOwnKey) =>
  Arbitrary.map(
    Arbitrary.all({ sender, events: Arbitrary.array(event, { minLength: 1, maxLength }) }),
    ({ sender, events }): Batch => ({ step: "batch", ...sender, events }),
  )
const replay = Arbitrary.map(which, (which): Step => ({ step: "replay", which }))
const onAgent = Arbitrary.all({ step: oneOf("accept", "block", "remove"), agent_id: oneOf(...AGENTS) })
const acceptOne = Arbitrary.all({ step: Arbitrary.Constant("accept" as const), agent_id: oneOf(...AGENTS) })
const onAll = Arbitrary.map(oneOf("block_all", "remove_all", "unblock_all", "purge"), (step): Step => ({
  step,
}))
const resetClock = Arbitrary.map(which, (which): Step => ({ step: "reset_clock", which }))
const removeCheck = Arbitrary.map(which, (which): Step => ({ step: "remove_check", which }))
const sweep = Arbitrary.Constant<Step>({ step: "sweep" })
const acceptAll = Arbitrary.map(boolean, (includeRotation): Step => ({ step: "accept_all", includeRotation }))
const unblock = Arbitrary.map(which, (which): Step => ({ step: "unblock", which }))
const restart = Arbitrary.map(boolean, (preseeded): Step => ({ step: "restart", preseeded }))
const deliver = Arbitrary.map(
  Arbitrary.all({
    which,
    answer: weighted<Answer>(
      [5, Arbitrary.Constant("delivered")],
      [4, Arbitrary.Constant("deferred")],
      [2, Arbitrary.Constant("refused")],
      [2, Arbitrary.Constant("notifier_gone")],
    ),
  }),
  (choice): Step => ({ step: "deliver", ...choice }),
)

const LONGEST = 60

/**
 * The `size` to check with: scenarios are short in the first runs and as long as any of them after
 * a quarter of the runs.
 */
export const SIZE = 4 * LONGEST

const steps = (step: Arbitrary.Arbitrary<Step>) => Arbitrary.array(step, { maxLength: LONGEST })

const lifeWith = (batch: Arbitrary.Arbitrary<Step>, ...more: ReadonlyArray<Weighted<Step>>) =>
  steps(
    weighted(
      [2, wait],
      [12, batch],
      [4, heartbeatOf(usuallyOwnKey)],
      [2, replay],
      [6, deliver],
      [1, onAgent],
      [3, acceptAll],
      [1, onAll],
      [1, sweep],
      ...more,
    ),
  )

/** Agents send results, items are delivered, and sometimes an operator acts. */
export const life = lifeWith(batchOf(6, draft(CHECKS, anyId)), [1, resetClock])

/** The same, and operators remove checks, which their agents may report again. */
export const lifeWithRemovals = lifeWith(batchOf(6, draft(CHECKS, anyId)), [1, resetClock], [4, removeCheck])

/**
 * The same without causes for a batch to count again: the reset of a clock, and one ID for two
 * events of one check.
 */
export const lifeWithoutReset = lifeWith(batchOf(6, draft(CHECKS, idPerCheck)))

/** The same, by senders that give every event a new ID. */
export const properLife = lifeWith(batchOf(6, draft(CHECKS, properId)))

/** The same with one event in each batch, so that each change follows from one event. */
export const lifeByEvents = lifeWith(batchOf(1, draft(CHECKS, properId)), [1, resetClock])

const CROWD = Array.from({ length: 20 }, (_, number) => `check-${number}`)

/**
 * A large batch for one half of an agent's checks, all of one incident, with another status in
 * place of `status`.
 */
const largeBatch = (status: CheckStatus, instead: CheckStatus) =>
  Arbitrary.map(
    Arbitrary.all({
      half: oneOf("", "-too"),
      batch: batchOf(60, draft(CROWD, newId), usuallyFirst),
    }),
    ({ half, batch }): Step => ({
      ...batch,
      events: batch.events.map((event) => ({
        ...event,
        check_id: `${event.check_id}${half}`,
        lagSeconds: 0,
        status: event.status === status ? instead : event.status,
        incident_key: "shared",
      })),
    }),
  )

/**
 * Many checks in one incident, in large batches: one half fails, then the other half recovers, so
 * that all shown members may leave. There are more members than one load takes.
 */
export const crowd = steps(
  weighted(
    [5, largeBatch("ok", "critical")],
    [3, largeBatch("critical", "ok")],
    [2, deliver],
    [
      1,
      Arbitrary.map(oneOf("remove" as const, "block" as const), (step): Step => ({
        step,
        agent_id: AGENTS[0],
      })),
    ],
    [1, acceptAll],
  ),
)

/** Keys come and go under few agent ids; operators are busy. */
export const admission = steps(
  weighted<Step>(
    [3, wait],
    [5, heartbeatOf(ownKey)],
    [5, heartbeatOf(anyKey)],
    [2, batchOf(1, draft(CHECKS, newId), anyKey)],
    [1, replay],
    [3, onAgent],
    [2, acceptOne],
    [1, acceptAll],
    [1, onAll],
    [1, unblock],
    [2, restart],
    [1, sweep],
  ),
)

/** Each agent registers its key, and all are accepted. */
export const enrollment: ReadonlyArray<Step> = [
  ...AGENTS.map((agent_id, at): Step => ({
    step: "heartbeat",
    agent_id,
    key: KEYS[at] ?? KEYS[0],
    lagSeconds: 0,
    hostname: "h1",
  })),
  { step: "accept_all", includeRotation: false },
]

const NOTIFIER_KINDS: ReadonlyArray<NotifierName> = ["debug", "webhook", "messenger", "alert_router"]

/** One to four enabled notifiers. */
export const notifiers = Arbitrary.map(integer(1, 15), (bits) =>
  NOTIFIER_KINDS.filter((_, at) => (bits & (1 << at)) !== 0),
)
