import { assert, describe, it } from "@effect/vitest"
import { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { CurrentInstruments, Instruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { PART_KINDS } from "@tocsin/core/features/numbers/NumberPart"
import type { PartKind } from "@tocsin/core/kernel/ports/NumberStorage"
import { Duration, Effect } from "effect"
import { AGENT, enroll, report } from "../service/agents.ts"
import { openService, type Process, whileTimePasses } from "../service/Service.ts"
import { numbersMetrics } from "@tocsin/core/features/numbers/NumberMemory"

/** A service with two servers, whose check `disk` reports each minute to one of them. */
const open = Effect.gen(function* () {
  const { open: start, passes } = yield* openService()
  const first = yield* start("first", { keepsHouse: true })
  yield* enroll(first, AGENT)
  let used = 0
  return {
    start,
    first,
    second: yield* start("second", { keepsHouse: true }),
    passes,
    /** Lets minutes pass, in each of which the check measures another value. */
    measures: Effect.fnUntraced(function* (minutes: number, server: Process) {
      for (let minute = 0; minute < minutes; minute++) {
        yield* passes("1 minute")
        used += 1
        yield* report(server, [{ check: "disk", status: "ok", output: `OK | used=${used}%` }])
      }
      yield* passes("1 second")
    }),
    /** The values that a server shows, an hour a line: how many, the least, the mean and the most. */
    hours: Effect.fnUntraced(function* ({ queries }: Process) {
      const from = Instant.minus(yield* Instant.now, Duration.hours(10))
      const asked = { agent_id: AGENT, check_id: CheckId.make("disk"), name: "used", step: "1h" as const }
      const { series } = yield* queries.numbers.read({ ...asked, from })
      return series.flatMap(({ spans }) => spans).map(({ count, max, mean, min }) => [count, min, mean, max])
    }),
  }
})

describe("numbers over time (docs/rules.md#numbers)", () => {
  it.effect("of one hour that two servers measured are one span, also after one has stopped", () =>
    Effect.gen(function* () {
      const { first, hours, measures, second } = yield* open
      yield* measures(4, first)
      yield* measures(4, second)
      yield* measures(2, first)
      yield* first.close
      assert.deepStrictEqual(yield* hours(second), [[10, 1, 5.5, 10]])
    }),
  )

  it.effect("of servers that restart one after another are one row of each time", () =>
    Effect.gen(function* () {
      const { first, hours, measures, passes, start } = yield* open
      for (let n = 0; n < 6; n++) {
        const server = yield* start(`restarted ${n}`, { keepsHouse: true })
        yield* measures(1, server)
        yield* server.close
      }
      const { numbers } = first.storage
      const check = (yield* first.storage.check(AGENT, CheckId.make("disk"))) ?? assert.fail()
      const now = Instant.toMillis(yield* Instant.now)
      const rows = (kinds: ReadonlyArray<PartKind>) =>
        Effect.map(
          numbers?.parts({ ...check, kinds, name: "used", from: 0, to: now + PART_KINDS.day.length }) ??
            Effect.succeed([]),
          ({ length }) => length,
        )
      assert.deepStrictEqual([yield* rows(["hour"]), yield* rows(["day"])], [6, 6])
      yield* passes("5 hours")
      assert.deepStrictEqual([yield* rows(["hour"]), yield* rows(["day"])], [1, 1])
      assert.deepStrictEqual(yield* hours(first), [[6, 1, 3.5, 6]])
    }),
  )

  it.effect("lose the last five minutes at most when a server crashes", () =>
    Effect.gen(function* () {
      const { first, hours, measures, second } = yield* open
      yield* measures(13, first)
      first.faults.isUnreachable = true
      yield* first.close
      const [[count = 0] = []] = yield* hours(second)
      assert.isAtLeast(count, 8)
      yield* measures(1, second)
      assert.deepStrictEqual((yield* hours(second))[0]?.[0], count + 1)
    }),
  )

  it.effect("are counted where a stop cannot write them", () =>
    Effect.gen(function* () {
      const { first, measures } = yield* open
      const instruments = (yield* CurrentInstruments).of(numbersMetrics)
      yield* measures(3, first)
      first.faults.latencies = [10_000]
      yield* whileTimePasses(first.close)
      assert.strictEqual(instruments.numbersLost.of().value, 6)
    }).pipe(Effect.provideService(CurrentInstruments, new Instruments())),
  )

  it.effect("of a check that another server deleted do not come back", () =>
    Effect.gen(function* () {
      const { first, hours, measures, passes, second } = yield* open
      yield* measures(3, first)
      yield* second.operations.removeCheck({ agent_id: AGENT, check_id: CheckId.make("disk") })
      yield* measures(2, second)
      yield* passes("6 minutes")
      assert.deepStrictEqual(yield* hours(second), [[2, 4, 4.5, 5]])
      yield* measures(1, first)
      yield* first.close
      assert.deepStrictEqual(yield* hours(second), [[3, 4, 5, 6]])
    }),
  )

  it.effect("survive an outage of twenty minutes, and results never wait for them", () =>
    Effect.gen(function* () {
      const { first, hours, measures, passes, second } = yield* open
      yield* measures(5, first)
      first.faults.refusesNumbers = true
      yield* measures(20, first)
      first.faults.refusesNumbers = false
      yield* passes("6 minutes")
      assert.deepStrictEqual(yield* hours(second), [[25, 1, 13, 25]])
    }),
  )

  it.effect("of an hour that cannot be written are dropped half an hour after its end, and counted", () =>
    Effect.gen(function* () {
      const { first, hours, measures, passes, second } = yield* open
      const instruments = (yield* CurrentInstruments).of(numbersMetrics)
      yield* measures(5, first)
      first.faults.refusesNumbers = true
      yield* measures(5, first)
      yield* passes("3 hours")
      // Of the duration and of what the output states: the last one of the first five, and five more.
      assert.strictEqual(instruments.numbersLost.of().value, 12)
      first.faults.refusesNumbers = false
      yield* measures(5, first)
      yield* passes("6 minutes")
      const counts = (yield* hours(second)).map(([count]) => count)
      assert.deepStrictEqual(counts.at(-1), 5)
    }).pipe(Effect.provideService(CurrentInstruments, new Instruments())),
  )

  it.effect("of twelve hours are kept for twelve hours, whatever the time of day", () =>
    Effect.gen(function* () {
      const { hours, measures, passes, second, start } = yield* open
      yield* second.close
      const short = yield* start("short", { retention: { numbers: Duration.hours(12) } })
      yield* passes("6 hours")
      yield* measures(2, short)
      // The day is 20 hours old.
      yield* passes("6 hours")
      assert.deepStrictEqual(yield* hours(short), [[2, 1, 1.5, 2]])
    }),
  )

  it.effect("expire after their time also where no further ones are kept", () =>
    Effect.gen(function* () {
      const { first, hours, measures, passes, second, start } = yield* open
      yield* measures(3, first)
      yield* second.close
      yield* first.close
      const off = yield* start("off", {
        keepsHouse: true,
        mostSeries: 0,
        retention: { numbers: Duration.hours(1) },
      })
      yield* measures(3, off)
      // A server without numbers answers none, so that another one is asked.
      const reader = yield* start("reader")
      assert.deepStrictEqual(yield* hours(reader), [[3, 1, 2, 3]])
      yield* passes("26 hours")
      const { numbers } = reader.storage
      assert.deepStrictEqual(yield* (numbers ?? assert.fail()).series(), [])
      const kept = numbers?.parts({
        ...((yield* first.storage.check(AGENT, CheckId.make("disk"))) ?? assert.fail()),
        kinds: ["hour", "day", "late"],
        from: 0,
        to: Number.MAX_SAFE_INTEGER,
      })
      assert.deepStrictEqual(yield* kept ?? assert.fail(), [])
    }),
  )

  it.effect("are kept for ever where their retention is 0", () =>
    Effect.gen(function* () {
      const { first, hours, measures, passes, second, start } = yield* open
      yield* Effect.andThen(first.close, second.close)
      const forever = yield* start("forever", { keepsHouse: true, retention: { numbers: undefined } })
      yield* measures(2, forever)
      yield* passes("5 hours")
      assert.deepStrictEqual(yield* hours(forever), [[2, 1, 1.5, 2]])
      yield* passes("21 hours")
      const { numbers } = forever.storage
      const check = (yield* forever.storage.check(AGENT, CheckId.make("disk"))) ?? assert.fail()
      const days = yield* (numbers ?? assert.fail()).parts({
        ...check,
        kinds: ["day"],
        name: "used",
        from: 0,
        to: Number.MAX_SAFE_INTEGER,
      })
      assert.strictEqual(days.length, 1)
    }),
  )
})
