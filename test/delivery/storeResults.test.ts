import { assert, describe, it } from "@effect/vitest"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import type { AttemptResult } from "@tocsin/core/heart/notifications/recordResults"
import { makeStoreResults } from "@tocsin/core/heart/notifications/attemptItems"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, criticalChecks, enroll, report } from "../service/agents.ts"
import { openService } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { claimItems } from "@tocsin/testing/claimItems"

const lease = Duration.seconds(60)
const delivered: AttemptResult = { outcome: "delivered" }
/** No notifier may return this: decisions throw. */
const defective = { outcome: "deferred" } as AttemptResult

/** Claims so many items, and makes what stores their results; counts its transactions. */
const openClaimed = Effect.fnUntraced(function* (count: number) {
  const service = yield* openService({ notifiers: ["webhook"] })
  const { commits, ...process } = yield* service.open("a", { delivers: false })
  yield* enroll({ commits, ...process }, AGENT)
  yield* Effect.orDie(report(process, criticalChecks(count)))
  const claimed = yield* claimItems(commits, { receivers: ["webhook"], limit: count, lease })
  let transactions = 0
  yield* commits.listen({ committed: () => transactions++ })
  const { storeSameResult, storeResult } = yield* Effect.provideService(
    makeStoreResults(lease),
    Commits,
    commits,
  )
  const store = (results: ReadonlyArray<AttemptResult>) =>
    Effect.forEach(
      claimed.slice(0, results.length),
      ({ claim }, index) => storeResult(claim, results[index] ?? delivered),
      { concurrency: "unbounded" },
    )
  const storeTogether = storeSameResult(
    claimed.map(({ claim }) => claim),
    { outcome: "deferred", error: "the receiver answered 503" },
  )
  const items = () => Array.from(service.rows().outbox.values())
  const states = () => items().map(({ state }) => state)
  return { store, storeTogether, items, states, transactions: () => transactions }
})

describe("the results of attempts", () => {
  it.effect("that end in one turn are one transaction", () =>
    Effect.gen(function* () {
      const { states, store, transactions } = yield* openClaimed(40)
      const settlements = yield* store(Array.from({ length: 40 }, () => delivered))
      assert.deepStrictEqual(new Set(settlements), new Set(["stored"]))
      assert.deepStrictEqual(new Set(states()), new Set(["sent"]))
      assert.strictEqual(transactions(), 1)
    }),
  )

  it.effect("of one message are one transaction, so that they are due again at one moment", () =>
    Effect.gen(function* () {
      const { items, storeTogether, transactions } = yield* openClaimed(40)
      yield* storeTogether
      assert.deepStrictEqual(new Set(items().map(({ state }) => state)), new Set(["retry"]))
      assert.strictEqual(new Set(items().map(({ next_attempt_at }) => next_attempt_at)).size, 1)
      assert.strictEqual(transactions(), 1)
    }),
  )

  it.effect("are stored also if one of them cannot be, which is lost with its lease", () =>
    Effect.gen(function* () {
      const { states, store } = yield* openClaimed(3)
      const storing = yield* Effect.forkChild(store([delivered, defective, delivered]))
      yield* settled
      yield* TestClock.adjust("2 seconds")
      yield* settled
      assert.deepStrictEqual(states().toSorted(), ["sending", "sent", "sent"])
      yield* TestClock.adjust("2 minutes")
      yield* settled
      assert.deepStrictEqual(yield* Fiber.join(storing), ["stored", "lost", "stored"])
    }),
  )
})
