import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { assert, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { recordProbes } from "@tocsin/core/features/watches/recordProbes"
import { openReplica, type Replica } from "@tocsin/testing/Replica"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { onShiftedClock } from "../service/ShiftedClock.ts"

const WATCHES = AgentId.make("watches")
const nameOf = (n: number) => CheckId.make(`page-${n}`)
const DOWN = nameOf(7)
const http = { url: "http://page.example/" }

/** Probes six watches, and one more, with these results; then a period passes. */
const probed = Effect.fnUntraced(function* (
  { commits, incidents, watchAgent: agent, watches }: Replica,
  six: CheckStatus,
  last: CheckStatus,
) {
  for (const [n, status] of [six, six, six, six, six, six, last].entries()) {
    const name = nameOf(n + 1)
    const { next_probe_at: due } = yield* watches.get(name)
    const results = [{ name, due, at: yield* Instant.now, status, output: "", duration_ms: 3 }]
    yield* commits.transact(recordProbes({ agent, results, incidents }))
  }
  yield* TestClock.adjust("1 minute")
})

it.effect("a watch that failed before the service was cut off needs as many good results after it", () =>
  Effect.gen(function* () {
    const replica = yield* openReplica({ name: "memory", place: Layer.empty, client: MemoryStorage.layer })
    for (let n = 1; n < 7; n += 1) yield* replica.watches.create({ name: nameOf(n), http })
    yield* replica.watches.create({ name: DOWN, http, confirm: { good: 2 } })
    const status = Effect.map(replica.storage.check(WATCHES, DOWN), (row) => row?.status)
    yield* probed(replica, "ok", "critical")
    yield* probed(replica, "ok", "critical")
    yield* probed(replica, "critical", "critical")
    yield* probed(replica, "critical", "critical")
    yield* probed(replica, "ok", "ok")
    assert.strictEqual(yield* status, "critical")
    yield* probed(replica, "ok", "ok")
    assert.strictEqual(yield* status, "ok")
  }),
)

it.effect(
  "a watch that was probed while the clock was a year ahead has results of now once it is right",
  () =>
    onShiftedClock(({ clock }) =>
      Effect.gen(function* () {
        const replica = yield* openReplica({
          name: "memory",
          place: Layer.empty,
          client: MemoryStorage.layer,
        })
        for (let n = 1; n <= 7; n += 1) yield* replica.watches.create({ name: nameOf(n), http })
        clock.setAhead("365 days")
        yield* probed(replica, "ok", "ok")
        clock.setBack("365 days")
        const now = yield* Instant.now
        yield* probed(replica, "ok", "ok")
        assert.strictEqual((yield* replica.storage.check(WATCHES, DOWN))?.last_observed_at, now)
      }),
    ),
)

it.effect("four of five watches that fail are no cut-off, and one more is", () =>
  Effect.gen(function* () {
    const { commits, incidents, storage, watchAgent, watches } = yield* openReplica({
      name: "memory",
      place: Layer.empty,
      client: MemoryStorage.layer,
    })
    const names = Array.from({ length: 10 }, (_, n) => nameOf(n))
    for (const name of names) yield* watches.create({ name, http, confirm: { bad: 1 } })
    const probe = Effect.fnUntraced(function* (failing: number) {
      const results = yield* Effect.forEach(names, (name, n) =>
        Effect.zipWith(watches.get(name), Instant.now, ({ next_probe_at: due }, at) => {
          const status = n < failing ? ("critical" as const) : ("ok" as const)
          return { name, due, at, status, output: "", duration_ms: 3 }
        }),
      )
      yield* commits.transact(recordProbes({ agent: watchAgent, results, incidents }))
      yield* TestClock.adjust("1 minute")
      const checks = yield* Effect.forEach(names, (name) => storage.check(WATCHES, name))
      return checks.filter((check) => check?.status === "critical").length
    })
    assert.strictEqual(yield* probe(0), 0)
    assert.strictEqual(yield* probe(8), 8)
    assert.strictEqual(yield* probe(0), 0)
    assert.strictEqual(yield* probe(9), 0)
  }),
)
