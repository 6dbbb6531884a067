import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  GIVEN_UP_TOLD_FOR,
  HealthConditions,
  type HealthFacts,
  judgeHealth,
  LATE_AFTER,
  type NotificationMoment,
} from "../../../src/heart/health/HealthExamination.ts"

const NOW = Instant.fromMillis(1_800_000_000_000)

const well: HealthFacts = {
  now: NOW,
  isStopping: false,
  readFailure: undefined,
  writeFailure: undefined,
  undelivered: [],
  givenUp: [],
  unusable: [],
  isOutdated: false,
}

const ago = (time: Duration.Duration): NotificationMoment => ({
  notifier: "webhook",
  at: Instant.minus(NOW, time),
})

const moments = fc.array(
  fc.record({
    notifier: fc.constantFrom("webhook", "messenger", "pager"),
    // From two hours back to a little ahead: replicas' clocks differ.
    at: fc
      .integer({ min: -7_200_000, max: 60_000 })
      .map((millis) => Instant.fromMillis(1_800_000_000_000 + millis)),
  }),
  { maxLength: 5 },
)
const failure = fc.option(fc.constantFrom("unavailable", "timed_out", "full", "read_only", "other"), {
  nil: undefined,
})
const facts: fc.Arbitrary<HealthFacts> = fc.record({
  now: fc.constant(NOW),
  isStopping: fc.boolean(),
  readFailure: failure,
  writeFailure: failure,
  undelivered: moments,
  givenUp: moments,
  unusable: fc.subarray(["pager", "chat"]),
  isOutdated: fc.boolean(),
})

/** The same verdict by words instead of by the table. */
const expected = (known: HealthFacts): ReadonlyArray<string> => {
  const minutesAgo = ({ at }: NotificationMoment) => Number(NOW - at) / 60_000_000
  return [
    ...(known.readFailure === undefined ? [] : ["storage_answers"]),
    ...(known.writeFailure === undefined ? [] : ["storage_keeps"]),
    ...(known.unusable.length > 0 ? ["receivers_usable"] : []),
    ...(known.undelivered.some((moment) => minutesAgo(moment) > 15) ? ["delivery_in_time"] : []),
    ...(known.givenUp.some((moment) => minutesAgo(moment) < 60) ? ["nothing_given_up"] : []),
    ...(known.isOutdated ? ["policy_sound"] : []),
  ]
}

describe("the service is judged", () => {
  it("by all conditions of the table, and nothing else", () => {
    fc.assert(
      fc.property(facts, (known) => {
        const verdict = judgeHealth(known)
        if (known.isStopping) return assert.deepStrictEqual(verdict, { state: "stopping" })
        const faults = verdict.state === "unwell" ? verdict.faults.map(({ name }) => name) : []
        assert.deepStrictEqual(faults, expected(known))
        assert.strictEqual(verdict.state, faults.length === 0 ? "well" : "unwell")
      }),
    )
  })

  it("worse or the same by every thing more that is wrong", () => {
    fc.assert(
      fc.property(facts, moments, (known, more) => {
        const countOf = (judged: HealthFacts) => {
          const verdict = judgeHealth({ ...judged, isStopping: false })
          return verdict.state === "unwell" ? verdict.faults.length : 0
        }
        const worse = {
          ...known,
          undelivered: [...known.undelivered, ...more],
          givenUp: [...known.givenUp, ...more],
        }
        assert.isAtLeast(countOf(worse), countOf(known))
      }),
    )
  })

  it("well in a quiet service, and at the very bounds", () => {
    assert.deepStrictEqual(judgeHealth(well), { state: "well" })
    assert.deepStrictEqual(
      judgeHealth({ ...well, undelivered: [ago(LATE_AFTER)], givenUp: [ago(GIVEN_UP_TOLD_FOR)] }),
      { state: "well" },
    )
  })

  it("in words that name the notifier, the time, and no more", () => {
    const verdict = judgeHealth({
      ...well,
      readFailure: "timed_out",
      writeFailure: "full",
      undelivered: [ago(Duration.minutes(16)), ago(Duration.minutes(47))],
      givenUp: [ago(Duration.minutes(1)), ago(Duration.hours(3))],
    })
    assert(verdict.state === "unwell")
    assert.deepStrictEqual(
      verdict.faults.map(({ text }) => text),
      [
        "the storage does not answer (timed_out)",
        "the storage refuses writes (full)",
        "webhook has not delivered a notification for 47 minutes",
        "webhook failed to deliver a notification 1 minute ago",
      ],
    )
    const justNow = judgeHealth({ ...well, givenUp: [ago(Duration.seconds(59))] })
    assert(justNow.state === "unwell")
    assert.strictEqual(
      justNow.faults[0].text,
      "webhook failed to deliver a notification less than a minute ago",
    )
  })

  it("by conditions with distinct names", () => {
    const names = HealthConditions.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    for (const { meaning } of HealthConditions) assert.match(meaning, /^[a-z].*[^.]$/)
  })
})
