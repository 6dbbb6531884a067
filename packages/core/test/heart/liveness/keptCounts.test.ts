import { assert, it } from "@effect/vitest"
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CommitListener } from "../../../src/kernel/engine/commits/Commits.ts"
import { NO_CHANGES } from "../../../src/kernel/unitOfWork/Table.ts"
import { keptCounts } from "../../../src/heart/liveness/keptCounts.ts"
import { topic } from "../../../src/kernel/topics/Topics.ts"

const commit = (listener: CommitListener, ...names: ReadonlyArray<Parameters<typeof topic>[0]>) =>
  listener.committed?.({ ...NO_CHANGES, topics: names.reduce((topics, name) => topics | topic(name), 0) })

/** Counts of rows that a test changes, looked at for the agents seen in the last minute. */
const open = Effect.gen(function* () {
  const rows = { accepted: 5, offline: 2, open_incidents: 1 }
  let counted = 0
  let listener: CommitListener = {}
  const counts = yield* keptCounts(
    {
      counts: (_, known) =>
        Effect.sync(() => {
          if (known === undefined) counted += 1
          const agents_offline = known ?? rows.offline
          const checks = { checks_ok: 0, checks_warning: 0, checks_critical: 0, checks_unknown: 0 }
          const { accepted, open_incidents } = rows
          return { agents_online: accepted - agents_offline, agents_offline, ...checks, open_incidents }
        }),
    },
    { listen: (added) => Effect.sync(() => void (listener = added)) },
  )
  const look = Effect.gen(function* () {
    const found = yield* counts(Instant.minus(yield* Instant.now, Duration.minutes(1)))
    return [found.agents_online, found.agents_offline, found.open_incidents, counted]
  })
  return { rows, look, listener }
})

it.effect("offline agents are counted once a second, and all else at each look", () =>
  Effect.gen(function* () {
    const { listener, look, rows } = yield* open
    assert.deepStrictEqual(yield* look, [3, 2, 1, 1])
    Object.assign(rows, { offline: 3, open_incidents: 7 })
    commit(listener, "checks", "incidents")
    yield* TestClock.adjust("999 millis")
    assert.deepStrictEqual(yield* look, [3, 2, 7, 1])
    yield* TestClock.adjust("1 millis")
    assert.deepStrictEqual(yield* look, [2, 3, 7, 2])
  }),
)

it.effect("offline agents are counted again once one came back, was accepted or deleted", () =>
  Effect.gen(function* () {
    const { listener, look, rows } = yield* open
    yield* look
    rows.offline = 1
    commit(listener, "agents")
    assert.deepStrictEqual(yield* look, [4, 1, 1, 2])
    // By another process.
    Object.assign(rows, { accepted: 4, offline: 0 })
    assert.deepStrictEqual(yield* look, [4, 0, 1, 3])
  }),
)

it.effect("a clock that is set keeps no count longer", () =>
  Effect.gen(function* () {
    const { look } = yield* open
    const clock = yield* Clock.Clock
    yield* TestClock.setTime(Duration.toMillis("1 day"))
    yield* look
    const monotonic = clock.monotonicTimeNanosUnsafe()
    yield* TestClock.setTime(Duration.toMillis("23 hours"))
    assert.strictEqual(clock.monotonicTimeNanosUnsafe(), monotonic)
    assert.strictEqual((yield* look)[3], 2)
    yield* TestClock.adjust("1 hour")
    assert.strictEqual((yield* look)[3], 3)
  }),
)
