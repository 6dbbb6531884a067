import * as Instant from "@tocsin/contract/formats/Instant"
import { agentStatus } from "@tocsin/core/heart/liveness/agentStatus"
import { writeServiceHeartbeat, serviceHeartbeatEvery } from "@tocsin/core/heart/liveness/outage"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { start, START_MILLIS } from "@tocsin/testing/samples"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { integer, oneOf } from "../properties/arbitraries.ts"
import { enrollment } from "./Scenario.ts"
import { driveService, type DrivenService } from "./DrivenService.ts"
import { transact } from "@tocsin/testing/transact"

const limit = 500
const STALE_MILLIS = 120_000
const DEAD_MILLIS = 300_000

describe("the status of an agent", () => {
  const STALE_MICROS = STALE_MILLIS * 1_000
  const DEAD_MICROS = DEAD_MILLIS * 1_000

  const statusAfter = (micros: number) =>
    agentStatus(start, {
      now: Instant.fromMicros(start + BigInt(micros)),
      rules: defaultRules,
      serviceHeartbeat: undefined,
    })

  it.prop(
    "follows from the time since it was last seen, to the microsecond",
    { micros: integer(0, 2 * DEAD_MICROS) },
    ({ micros }) => {
      const expected = micros < STALE_MICROS ? "alive" : micros < DEAD_MICROS ? "stale" : "dead"
      assert.strictEqual(statusAfter(micros), expected)
    },
    { arbitrary: { runs: propertyRuns(500) } },
  )

  it.each([
    [0, "alive"],
    [STALE_MICROS - 1, "alive"],
    [STALE_MICROS, "stale"],
    [DEAD_MICROS - 1, "stale"],
    [DEAD_MICROS, "dead"],
  ] as const)("%i µs after it was seen is %s", (micros, status) => {
    assert.strictEqual(statusAfter(micros), status)
  })

  it.effect("changes together with the summary", () =>
    Effect.gen(function* () {
      const driven = yield* driveService()
      yield* driven.play(enrollment)
      const turns: Array<string> = []
      for (const millis of [0, 119_999, 1, 179_999, 1]) {
        yield* TestClock.adjust(millis)
        const { items } = yield* driven.queries().agents({ limit })
        const { agents_online, agents_offline } = yield* driven.queries().summary
        turns.push(`${items[0]?.status} ${agents_online} ${agents_offline}`)
      }
      assert.deepStrictEqual(turns, ["alive 3 0", "alive 3 0", "stale 0 3", "stale 0 3", "dead 0 3"])
    }),
  )
})

describe("an outage of the service", () => {
  /** Whether no agent may be dead: the end of the last outage is too recent. */
  const isInGrace = (marks: ReadonlyArray<number>, now: number): boolean => {
    const isOutage = (from: number, to: number) => to - from > STALE_MILLIS
    return [...marks, now].some((end, at) => {
      const before = marks[at - 1]
      return before !== undefined && isOutage(before, end) && now - end < DEAD_MILLIS
    })
  }

  it.effect.prop(
    "keeps silent agents from turning dead until a dead threshold after its end",
    {
      gaps: Arbitrary.array(oneOf(60_000, 120_000, 120_001, 180_000), {
        maxLength: 12,
      }),
    },
    ({ gaps }) =>
      Effect.gen(function* () {
        const driven = yield* driveService()
        yield* driven.play(enrollment)
        const marks: Array<number> = []
        let now = 0
        for (const gap of gaps) {
          yield* TestClock.adjust(gap)
          now += gap
          const isSilent = now >= DEAD_MILLIS
          const isDead = isSilent && !isInGrace(marks, now)
          const expected = isDead ? "dead" : now >= STALE_MILLIS ? "stale" : "alive"
          const { items } = yield* driven.queries().agents({ limit })
          assert.deepStrictEqual(Array.from(new Set(items.map((agent) => agent.status))), [expected])
          const { before, after } = yield* driven.perform({ action: "sweep" })
          const opened = after.incidents.size - before.incidents.size
          assert.strictEqual(opened, isDead && before.incidents.size === 0 ? items.length : 0)
          yield* transact(driven.storage, writeServiceHeartbeat(defaultRules))
          marks.push(now)
        }
      }),
    { arbitrary: { runs: propertyRuns(200), size: 12 } },
  )
})

describe("the service heartbeat when a clock is set", () => {
  const DAY = 86_400_000
  const EVERY = 5_000

  // As after everything else that a clock dated ahead is set right.
  const leave = ({ storage }: DrivenService) =>
    transact(storage, writeServiceHeartbeat(defaultRules, { isRight: true }))
  /** Whether an agent that was silent for years is called dead now. */
  const isCalledDead = ({ storage }: DrivenService) =>
    Effect.gen(function* () {
      const context = {
        now: yield* Instant.now,
        rules: defaultRules,
        serviceHeartbeat: yield* storage.serviceHeartbeat,
      }
      return agentStatus(Instant.fromMillis(0), context) === "dead"
    })

  it.effect.prop(
    "spares agents no longer than the grace period, and detects each later outage",
    {
      // By how much the clock was ahead at each service heartbeat, before it was corrected.
      ahead: Arbitrary.array(oneOf(0, 1, 4_000, 6_000, 121_000, DAY, 30 * DAY), { maxLength: 6 }),
      outage: oneOf(1_000, STALE_MILLIS - EVERY, STALE_MILLIS + EVERY + 1, 3 * DEAD_MILLIS),
    },
    ({ ahead, outage }) =>
      Effect.gen(function* () {
        const driven = yield* driveService()
        for (const [second, error] of ahead.entries()) {
          yield* TestClock.setTime(START_MILLIS + second * 1_000 + error)
          yield* leave(driven)
        }
        yield* TestClock.setTime(START_MILLIS + ahead.length * 1_000)
        for (let passed = 0; passed <= DEAD_MILLIS; passed += EVERY) {
          yield* leave(driven)
          yield* TestClock.adjust(EVERY)
        }
        assert.isTrue(yield* isCalledDead(driven), "spared by a service that was at work all the time")
        yield* TestClock.adjust(outage - EVERY)
        const isOutage = outage > STALE_MILLIS
        assert.strictEqual(yield* isCalledDead(driven), !isOutage, "before the next service heartbeat")
        yield* leave(driven)
        assert.strictEqual(yield* isCalledDead(driven), !isOutage, "after the next service heartbeat")
      }),
    { arbitrary: { runs: propertyRuns(100), size: 6 } },
  )

  it.effect.prop(
    "never goes back for replicas whose clocks differ by less than the time between two service heartbeats",
    { offsets: Arbitrary.array(integer(0, EVERY - 1), { minLength: 2, maxLength: 10 }) },
    ({ offsets }) =>
      Effect.gen(function* () {
        const driven = yield* driveService()
        let last = 0n
        for (const offset of offsets) {
          yield* TestClock.setTime(START_MILLIS + offset)
          yield* leave(driven)
          const { beat_at } =
            (yield* driven.storage.serviceHeartbeat) ?? assert.fail("there is no service heartbeat")
          assert.isTrue(beat_at >= last)
          last = beat_at
        }
      }),
    { arbitrary: { runs: propertyRuns(50), size: 10 } },
  )

  it.each([
    [2, 500],
    [4, 1_000],
    [20, 5_000],
    [120, 5_000],
  ])("with a stale threshold of %i s is written every %i ms", (seconds, millis) => {
    const rules = { ...defaultRules, staleAfter: Duration.seconds(seconds) }
    assert.strictEqual(Duration.toMillis(serviceHeartbeatEvery(rules)), millis)
  })
})
