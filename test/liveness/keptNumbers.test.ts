import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { assert, describe, it } from "@effect/vitest"
import { EventId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { CurrentInstruments, Instruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import type { CheckRef } from "@tocsin/core/kernel/model/CheckRef"
import { FOLDED_AFTER, MOST_SERVERS, PART_KINDS, startsIn } from "@tocsin/core/features/numbers/NumberPart"
import type { PartKind, NumberStorage } from "@tocsin/core/kernel/ports/NumberStorage"
import { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { NumberMemory, numbersMetrics } from "@tocsin/core/features/numbers/NumberMemory"
import { forAll } from "@tocsin/testing/forAll"
import { sum } from "@tocsin/testing/numbers"
import { agentRecord, checkRecord } from "@tocsin/testing/records"
import * as SeededIds from "@tocsin/testing/SeededIds"
import { transact } from "@tocsin/testing/transact"
import { START_MILLIS } from "@tocsin/testing/samples"
import { Context, Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"

const agent = agentRecord("a")
const checks = ["cpu", "disk"].map((name) => checkRecord(agent, name))
const { length: DAY } = PART_KINDS.day

/** Two servers over one storage: each step is of one of them. */
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant("result" as const),
      server: fc.nat(1),
      check: fc.nat(1),
      late: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(4_000)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant("delete" as const),
      server: fc.nat(1),
      check: fc.nat(1),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom("write" as const, "load" as const, "stop" as const),
      server: fc.nat(1),
      fails: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("fold" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("pass" as const), minutes: fc.integer({ min: 1, max: 100 }) }),
  },
)

const full = new StorageError({ reason: "full", message: "for a test" })

const open = Effect.gen(function* () {
  yield* TestClock.setTime(START_MILLIS)
  const context = yield* Layer.build(Layer.fresh(Layer.merge(MemoryStorage.layer, SeededIds.layer("kept"))))
  const storage = Context.get(context, Storage)
  yield* transact(storage, function* (unit) {
    yield* [{ agents: [agent.agent_id] }]
    unit.putAgent(agent)
  })
  const instruments = new Instruments()
  const server = () =>
    NumberMemory.make.pipe(
      Effect.provideService(CurrentInstruments, instruments),
      Effect.provideContext(context),
    )
  const numbers = storage.numbers ?? assert.fail("no numbers")
  const refusing: NumberStorage<StorageError> = {
    ...numbers,
    series: () => Effect.fail(full),
    write: () => Effect.fail(full),
  }
  /** How many values of a check are stored: by hours, and by what came later than those. */
  const storedOf = (of: CheckRef, kinds: ReadonlyArray<PartKind> = ["hour", "late"]) =>
    Effect.map(
      numbers.parts({
        ...of,
        kinds,
        from: START_MILLIS - 30 * DAY,
        to: START_MILLIS + 30 * DAY,
      }),
      (parts) => sum(parts.flatMap(({ spans }) => spans.map((span) => span?.count ?? 0))),
    )
  const fold = Effect.gen(function* () {
    const before = Instant.toMillis(yield* Instant.now) - FOLDED_AFTER
    for (const start of startsIn("day", before - 4 * DAY, before)) yield* numbers.fold({ start, before })
  })
  return { storage, numbers, refusing, instruments, server, storedOf, fold }
})

describe("numbers that were taken (docs/rules.md#numbers)", () => {
  it.effect("are stored once or counted, whatever fails, stops or is deleted meanwhile", () =>
    forAll(fc.array(step, { maxLength: 40 }), { runs: 40 }, (steps) =>
      Effect.gen(function* () {
        const { fold, instruments, numbers, refusing, server, storage, storedOf } = yield* open
        const servers = [yield* server(), yield* server()]
        const serverOf = (n: number) => servers[n] ?? assert.fail()
        /** How many values each check has had since it was last deleted, or none if it is not there. */
        const taken = new Map<number, number>()
        // Of deleted checks: at least none, at most what was not stored then.
        let mayBeOfDeleted = 0
        const stop = Effect.fnUntraced(function* (n: number, fails: boolean) {
          yield* Effect.ignore(serverOf(n).write(fails ? refusing : numbers))
          yield* serverOf(n).abandon
          servers[n] = yield* server()
        })
        for (const [index, one] of steps.entries()) {
          const now = yield* Instant.now
          if (one.does === "pass") {
            yield* TestClock.adjust(`${one.minutes} minutes`)
            for (const memory of servers) yield* memory.forget
          } else if (one.does === "fold") yield* fold
          else if ("fails" in one) {
            if (one.does === "stop") yield* stop(one.server, one.fails)
            else yield* Effect.ignore(serverOf(one.server)[one.does](one.fails ? refusing : numbers))
          } else {
            const row = checks[one.check] ?? assert.fail()
            const { agent_id, check_id, registration_id } = row
            const ref = { agent_id, check_id, registration_id }
            const memory = serverOf(one.server)
            const before = taken.get(one.check)
            yield* TestClock.adjust("1 second")
            if (one.does === "delete") {
              if (before === undefined) continue
              mayBeOfDeleted += before - (yield* storedOf(ref))
              taken.delete(one.check)
              yield* transact(storage, function* (unit) {
                yield* [{ agents: [agent_id] }, { checks: { agent_id, check_ids: [check_id] } }]
                unit.removeCheck(unit.checks.get(ref) ?? assert.fail())
              })
              memory.add([ref])
              continue
            }
            yield* transact(storage, function* (unit) {
              yield* [{ agents: [agent_id] }, { checks: { agent_id, check_ids: [check_id] } }]
              unit.checks.put({ ...row, received_at: now })
            })
            const event = {
              check_id,
              event_id: EventId.make("0190a5d0-0000-7000-8000-000000000001"),
              duration_ms: 1 + index,
              observed_at: Instant.minus(now, Duration.minutes(one.late)),
              output: "OK",
              output_truncated: false,
            }
            memory.add([
              ...(before === undefined ? [ref] : []),
              { agent_id, registration_id, received_at: now, events: [event] },
            ])
            memory.take()
            taken.set(one.check, (before ?? 0) + 1)
          }
        }
        for (const n of servers.keys()) yield* stop(n, false)
        let missing = 0
        for (const [n, count] of taken) {
          const stored = yield* storedOf(checks[n] ?? assert.fail())
          assert.isAtMost(stored, count)
          // Days have what hours have, whatever was folded.
          const [hours, days] = [["hour"], ["day"]] as const
          const of = checks[n] ?? assert.fail()
          assert.strictEqual(yield* storedOf(of, days), yield* storedOf(of, hours))
          missing += count - stored
        }
        const lost = instruments.of(numbersMetrics).numbersLost.of().value
        assert.isAtMost(missing, lost)
        assert.isAtMost(lost, missing + mayBeOfDeleted)
      }),
    ),
  )

  it.effect("that arrive while a pass writes wait for the next pass, so that each pass ends", () =>
    Effect.gen(function* () {
      const { numbers, server, storage, storedOf } = yield* open
      const of = checks[0] ?? assert.fail()
      const { agent_id, check_id, registration_id } = of
      yield* transact(storage, function* (unit) {
        yield* [{ agents: [agent_id] }, { checks: { agent_id, check_ids: [check_id] } }]
        unit.checks.put(of)
      })
      const memory = yield* server()
      let measured = 0
      const measure = Effect.gen(function* () {
        yield* TestClock.adjust("1 hour")
        const now = yield* Instant.now
        const event_id = EventId.make("0190a5d0-0000-7000-8000-000000000001")
        measured += 1
        const event = { check_id, event_id, duration_ms: 1, observed_at: now, output: "OK" }
        const events = [{ ...event, output_truncated: false }]
        memory.add([{ agent_id, registration_id, received_at: now, events }])
      })
      let writes = 0
      const slow: typeof numbers = {
        ...numbers,
        write: (of, parts) => {
          writes += 1
          assert.isAtMost(writes, 2, "a pass goes on with what came after its start")
          return Effect.tap(numbers.write(of, parts), () => measure)
        },
      }
      yield* measure
      yield* memory.write(slow)
      assert.deepStrictEqual([writes, measured, yield* storedOf(of)], [1, 2, 1])
      yield* memory.write(slow)
      assert.deepStrictEqual([writes, measured, yield* storedOf(of)], [2, 3, 2])
    }),
  )

  it.effect("of servers that restart every few minutes are few rows, and are all there", () =>
    Effect.gen(function* () {
      const { fold, numbers, server, storage, storedOf } = yield* open
      const of = checks[0] ?? assert.fail()
      const { agent_id, check_id, registration_id } = of
      yield* transact(storage, function* (unit) {
        yield* [{ agents: [agent_id] }, { checks: { agent_id, check_ids: [check_id] } }]
        unit.checks.put(of)
      })
      const rows = (kind: PartKind) =>
        Effect.map(
          numbers.parts({
            agent_id,
            check_id,
            registration_id,
            kinds: [kind],
            from: 0,
            to: START_MILLIS * 2,
          }),
          (parts) => Map.groupBy(parts, ({ start }) => start),
        )
      const RESTARTS = 288
      for (let n = 0; n < RESTARTS; n++) {
        yield* TestClock.adjust("5 minutes")
        const memory = yield* server()
        const received_at = yield* Instant.now
        const event = { check_id, event_id: undefined, duration_ms: 1, output: "", output_truncated: false }
        memory.add([
          { agent_id, registration_id, received_at, events: [{ ...event, observed_at: received_at }] },
        ])
        yield* memory.write(numbers)
        yield* fold
      }
      // Those of the last four hours at most are not folded.
      const many = Array.from((yield* rows("day")).values(), (parts) => parts.length)
      assert.isAtMost(Math.max(...many), 4 * 12 + MOST_SERVERS)
      yield* TestClock.adjust("5 hours")
      yield* fold
      for (const kind of ["hour", "day"] as const)
        for (const parts of (yield* rows(kind)).values()) assert.isAtMost(parts.length, MOST_SERVERS)
      for (const kind of ["hour", "day"] as const) assert.strictEqual(yield* storedOf(of, [kind]), RESTARTS)
    }),
  )

  it.effect("are written in passes that end, however many come meanwhile", () =>
    Effect.gen(function* () {
      const { numbers, server, storage } = yield* open
      const memory = yield* server()
      const names = Array.from({ length: 30 }, (_, n) => checkRecord(agent, `c${n}`))
      yield* transact(storage, function* (unit) {
        yield* [{ agents: [agent.agent_id] }]
        yield* [{ checks: { agent_id: agent.agent_id, check_ids: names.map(({ check_id }) => check_id) } }]
        for (const check of names) unit.checks.put(check)
      })
      const measure = Effect.map(Instant.now, (received_at) => {
        const { agent_id, registration_id } = agent
        const output = `| ${Array.from({ length: 19 }, (_, n) => `v${n}=1`).join(" ")}`
        const events = names.map(({ check_id }) => ({
          check_id,
          event_id: undefined,
          duration_ms: 1,
          observed_at: received_at,
          output,
          output_truncated: false,
        }))
        memory.add([{ agent_id, registration_id, received_at, events }])
      })
      yield* measure
      let pieces = 0
      const slow: NumberStorage<StorageError> = {
        ...numbers,
        write: (...given) => {
          pieces += 1
          // All of them have another value before the next piece.
          return pieces > 50
            ? Effect.fail(full)
            : Effect.andThen(Effect.andThen(measure, Effect.sync(memory.take)), numbers.write(...given))
        },
      }
      yield* memory.write(slow)
      assert.strictEqual(pieces, 3)
    }),
  )
})
