import { describe, expect, it } from "@effect/vitest"
import { Duration } from "effect"
import * as fc from "fast-check"
import { IncidentId, OutboxId } from "../../src/contract/Identifiers.ts"
import * as Instant from "../../src/contract/Instant.ts"
import type { OutboxRecord } from "../../src/notifications/OutboxRecord.ts"
import { type TimerFacts, timersOf } from "../../src/timers/timersOf.ts"
import { TimerTransitions } from "../../src/timers/TimerTransitions.ts"

const HOUR = 3_600
const at = (seconds: number): Instant.Instant => Instant.fromMillis(1_800_000_000_000 + seconds * 1_000)
const receiver = fc.constantFrom("chat", "mail", "pager")
const seconds = fc.integer({ min: -HOUR, max: 3 * HOUR })

/** A firing in any state; the moments fit the state. */
const firing: fc.Arbitrary<OutboxRecord> = fc
  .record({
    receiver,
    state: fc.constantFrom("pending", "sending", "sent", "retry", "failed"),
    wasAttempted: fc.boolean(),
    updated: seconds,
  })
  .map(({ receiver: name, state, updated, wasAttempted }) => ({
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
    look_at: undefined,
    released_at: undefined,
    last_error: undefined,
    leased_until: undefined,
    created_at: at(0),
    counts_from: at(0),
    updated_at: at(updated),
  }))

const facts: fc.Arbitrary<TimerFacts> = fc.record({
  opened_at: fc.constant(at(0)),
  firings: fc.array(firing, { maxLength: 5 }),
  routing: fc.option(
    fc.record({
      turns: fc
        .uniqueArray(fc.tuple(receiver, fc.constantFrom(0, 60, HOUR)), { selector: ([name]) => name })
        .map((turns) => new Map(turns.map(([name, turn]) => [name, Duration.seconds(turn)]))),
      remind: fc.option(fc.constantFrom(Duration.minutes(15), Duration.hours(1)), { nil: undefined }),
    }),
    { nil: undefined },
  ),
  hasAckRunOut: fc.boolean(),
  withheldUntil: fc.option(seconds.map(at), { nil: undefined }),
})

/** The facts as of a moment: what withholds has an end that is to come. */
const factsAt = ({ withheldUntil, ...more }: TimerFacts, now: Instant.Instant): TimerFacts => ({
  ...more,
  withheldUntil: withheldUntil !== undefined && withheldUntil > now ? withheldUntil : undefined,
})

const check = (property: (given: TimerFacts, now: Instant.Instant) => void) =>
  fc.assert(
    fc.property(facts, seconds, (given, second) => property(factsAt(given, at(second)), at(second))),
    { numRuns: 500 },
  )

const isOpen = ({ state }: OutboxRecord) => state === "pending" || state === "sending" || state === "retry"

describe("the timers of an incident", () => {
  it("ask for at most one firing for each receiver of the routes, with a move of the table", () => {
    const causes = new Map(TimerTransitions.map(({ effects, trigger }) => [trigger, effects]))
    expect(Array.from(causes.keys())).toEqual(["turn_came", "ack_ran_out", "reminder_due"])
    check((given, now) => {
      const receivers = timersOf(given, now).firings.map((one) => one.receiver)
      expect(new Set(receivers).size).toBe(receivers.length)
      for (const name of receivers) expect(given.routing?.turns.has(name)).toBe(true)
    })
  })

  it("write nothing where a firing is under way, except to restate an untried one", () => {
    check((given, now) => {
      for (const { cause, receiver: name } of timersOf(given, now).firings) {
        const open = given.firings.filter((item) => item.receiver === name && isOpen(item))
        const inTheWay =
          cause === "ack_ran_out" ? open.filter((item) => item.first_attempted_at !== undefined) : open
        expect(inTheWay).toEqual([])
      }
    })
  })

  it("write nothing while the incident is acknowledged or covered, nor without a loud member", () => {
    check((given, now) => {
      const forbidden = timersOf(given, now).firings.filter(
        ({ cause }) =>
          given.routing === undefined || (given.withheldUntil !== undefined && cause !== "ack_ran_out"),
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
        const { firings, nextLookAt } = timersOf(given, now)
        expect(nextLookAt === undefined || nextLookAt > now).toBe(true)
        const then = at(second + more)
        if (firings.length > 0 || (nextLookAt !== undefined && then >= nextLookAt)) return
        expect(timersOf(factsAt(given, then), then).firings).toEqual([])
      }),
      { numRuns: 1_000 },
    )
  })
})
