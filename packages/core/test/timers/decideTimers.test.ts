import { describe, expect, it } from "@effect/vitest"
import { Duration } from "effect"
import * as fc from "fast-check"
import { IncidentId, OutboxId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { FiringCause, NotifierName } from "@tocsin/contract/Status"
import type { OutboxRecord } from "../../src/model/OutboxRecord.ts"
import { type TimerFacts, decideTimers } from "../../src/timers/decideTimers.ts"
import { TimerTransitions } from "../../src/model/TimerTransitions.ts"

const HOUR = 3_600
const at = (seconds: number): Instant.Instant => Instant.fromMillis(1_800_000_000_000 + seconds * 1_000)
const receiver = fc.constantFrom("chat", "mail", "pager")
const seconds = fc.integer({ min: -HOUR, max: 3 * HOUR })

interface Firing {
  readonly receiver: NotifierName
  readonly state: OutboxRecord["state"]
  readonly wasAttempted: boolean
  readonly updated: number
}

const firingOf = ({ receiver: name, state, updated, wasAttempted }: Firing): OutboxRecord => ({
  id: OutboxId.make("00000000-0000-7000-8000-000000000002"),
  receiver: name,
  notifier: name,
  state,
  incident_id: IncidentId.make("00000000-0000-7000-8000-000000000001"),
  event_type: "firing",
  cause: "opened",
  incident_seq: 1,
  severity: "critical",
  summary: undefined,
  attempts: 0,
  first_attempted_at: state !== "pending" || wasAttempted ? at(0) : undefined,
  next_attempt_at: undefined,
  next_evaluation_at: undefined,
  released_at: undefined,
  last_error: undefined,
  leased_until: undefined,
  created_at: at(0),
  age_starts_at: at(0),
  updated_at: at(updated),
})

/** A firing in any state; the moments fit the state. */
const firing: fc.Arbitrary<OutboxRecord> = fc
  .record({
    receiver,
    state: fc.constantFrom("pending", "sending", "sent", "retry", "failed"),
    wasAttempted: fc.boolean(),
    updated: seconds,
  })
  .map(firingOf)

const facts: fc.Arbitrary<TimerFacts> = fc.record({
  opened_at: fc.constant(at(0)),
  firings: fc.array(firing, { maxLength: 5 }),
  routing: fc.option(
    fc.record({
      delays: fc
        .uniqueArray(fc.tuple(receiver, fc.constantFrom(0, 60, HOUR)), { selector: ([name]) => name })
        .map((delays) => new Map(delays.map(([name, turn]) => [name, Duration.seconds(turn)]))),
      remind: fc.option(fc.constantFrom(Duration.minutes(15), Duration.hours(1)), { nil: undefined }),
    }),
    { nil: undefined },
  ),
  hasAckRunOut: fc.boolean(),
  heldUntil: fc.option(seconds.map(at), { nil: undefined }),
})

/** The facts as of a moment: what withholds has an end that is to come. */
const factsAt = ({ heldUntil, ...more }: TimerFacts, now: Instant.Instant): TimerFacts => ({
  ...more,
  heldUntil: heldUntil !== undefined && heldUntil > now ? heldUntil : undefined,
})

const check = (property: (given: TimerFacts, now: Instant.Instant) => void) =>
  fc.assert(
    fc.property(facts, seconds, (given, second) => property(factsAt(given, at(second)), at(second))),
    { numRuns: 500 },
  )

/** The pager's turn comes after a minute; a reminder every hour. */
const ROUTING = {
  delays: new Map([["pager", Duration.minutes(1)]]),
  remind: Duration.hours(1),
}
const SENT = { receiver: "pager", state: "sent", wasAttempted: true, updated: 60 } as const
const RETRY = { ...SENT, state: "retry" } as const
const UNTRIED = { ...SENT, state: "pending", wasAttempted: false } as const
const RAN_OUT = { hasAckRunOut: true }
/** Until ten minutes after the hour. */
const HELD = { heldUntil: at(HOUR + 600) }

interface Asked {
  readonly has?: Firing
  readonly more?: Partial<TimerFacts>
  readonly now: number
  readonly asks?: FiringCause
  readonly look?: number
}

const ASKED: ReadonlyArray<readonly [name: string, asked: Asked]> = [
  ["before its turn", { now: 59, look: 60 }],
  ["at its turn", { now: 60, asks: "escalation", look: 60 + HOUR }],
  ["at its turn, held", { more: HELD, now: 60, look: HOUR + 600 }],
  ["when an acknowledgement ran out before its turn", { more: RAN_OUT, now: 59, look: 60 }],
  ["when one ran out at its turn", { more: RAN_OUT, now: 60, asks: "ack_ran_out", look: 60 + HOUR }],
  ["before a reminder", { has: SENT, now: 59 + HOUR, look: 60 + HOUR }],
  ["when a reminder is due", { has: SENT, now: 60 + HOUR, asks: "reminder", look: 60 + 2 * HOUR }],
  ["when a reminder is due, held", { has: SENT, more: HELD, now: 60 + HOUR, look: HOUR + 600 }],
  ["without reminders", { has: SENT, more: { routing: { ...ROUTING, remind: undefined } }, now: 2 * HOUR }],
  [
    "when one ran out after its firing",
    { has: SENT, more: RAN_OUT, now: 120, asks: "ack_ran_out", look: 120 + HOUR },
  ],
  [
    "when one ran out after its firing, held",
    { has: SENT, more: { ...RAN_OUT, ...HELD }, now: 120, asks: "ack_ran_out", look: 120 + HOUR },
  ],
  [
    "when one ran out while its firing is untried",
    { has: UNTRIED, more: RAN_OUT, now: 120, asks: "ack_ran_out", look: 120 + HOUR },
  ],
  ["when one ran out during a retry", { has: RETRY, more: RAN_OUT, now: 120, look: 120 + HOUR }],
]

const isOpen = ({ state }: OutboxRecord) => state === "pending" || state === "sending" || state === "retry"

describe("the timers of an incident", () => {
  it.each(ASKED)("ask for a firing, or a later look, %s", (_name, { has, more, now, asks, look }) => {
    const given: TimerFacts = {
      opened_at: at(0),
      firings: has === undefined ? [] : [firingOf(has)],
      routing: ROUTING,
      hasAckRunOut: false,
      heldUntil: undefined,
      ...more,
    }
    expect(decideTimers(given, at(now))).toEqual({
      firings: asks === undefined ? [] : [{ receiver: "pager", cause: asks }],
      nextEvaluationAt: look === undefined ? undefined : at(look),
    })
  })

  it("ask for at most one firing for each receiver of the routes, with a move of the table", () => {
    const causes = new Map(TimerTransitions.map(({ effects, trigger }) => [trigger, effects]))
    expect(Array.from(causes.keys())).toEqual(["step_came", "ack_ran_out", "reminder_due"])
    check((given, now) => {
      const receivers = decideTimers(given, now).firings.map((one) => one.receiver)
      expect(new Set(receivers).size).toBe(receivers.length)
      for (const name of receivers) expect(given.routing?.delays.has(name)).toBe(true)
    })
  })

  it("write nothing where a firing is under way, except to restate an untried one", () => {
    check((given, now) => {
      for (const { cause, receiver: name } of decideTimers(given, now).firings) {
        const open = given.firings.filter((item) => item.receiver === name && isOpen(item))
        const inTheWay =
          cause === "ack_ran_out" ? open.filter((item) => item.first_attempted_at !== undefined) : open
        expect(inTheWay).toEqual([])
      }
    })
  })

  it("write nothing while the incident is acknowledged or covered, nor without a loud member", () => {
    check((given, now) => {
      const forbidden = decideTimers(given, now).firings.filter(
        ({ cause }) =>
          given.routing === undefined || (given.heldUntil !== undefined && cause !== "ack_ran_out"),
      )
      expect(forbidden).toEqual([])
    })
  })

  it("miss nothing: before the next look, no timer comes due", () => {
    const later = fc.integer({ min: 1, max: 4 * HOUR })
    fc.assert(
      fc.property(facts, seconds, later, (random, second, more) => {
        const now = at(second)
        const given = { ...factsAt(random, now), hasAckRunOut: false }
        const { firings, nextEvaluationAt } = decideTimers(given, now)
        expect(nextEvaluationAt === undefined || nextEvaluationAt > now).toBe(true)
        const then = at(second + more)
        if (firings.length > 0 || (nextEvaluationAt !== undefined && then >= nextEvaluationAt)) return
        expect(decideTimers(factsAt(given, then), then).firings).toEqual([])
      }),
      { numRuns: 1_000 },
    )
  })
})
