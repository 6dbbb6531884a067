import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { PgClient } from "../../src/client/PgClient.ts"
import { Announcer } from "../../src/hints/remoteWakeups.ts"

/** An announcer, and what it has sent. */
const make = () => {
  const announcer = new Announcer("one")
  const sent: Array<unknown> = []
  const unused = Effect.die(new Error("not used"))
  const pg: PgClient["Service"] = {
    query: (_statement, parameters) =>
      Effect.sync(() => {
        sent.push(parameters[1])
        return []
      }),
    queryJson: () => unused,
    listen: () => unused,
    sound: Effect.void,
    poolStatus: unused,
  }
  const attempt = (end: Effect.Effect<void, string>) =>
    Effect.exit(announcer.attempt((announce) => Effect.andThen(Effect.orDie(announce(pg)), end)))
  return { sent, attempt }
}

describe("an announcer", () => {
  it.effect("announces once a second, however many deliveries there are", () =>
    Effect.gen(function* () {
      const { attempt, sent } = make()
      yield* Effect.replicateEffect(attempt(Effect.void), 50, { concurrency: "unbounded", discard: true })
      yield* TestClock.adjust(999)
      yield* attempt(Effect.void)
      assert.deepStrictEqual(sent, ["one deliveries"])
      yield* TestClock.adjust(1)
      yield* Effect.replicateEffect(attempt(Effect.void), 50, { concurrency: "unbounded", discard: true })
      assert.strictEqual(sent.length, 2)
    }),
  )

  it.effect("announces with the next transaction after one that failed", () =>
    Effect.gen(function* () {
      const { attempt, sent } = make()
      yield* attempt(Effect.fail("rolled back"))
      yield* attempt(Effect.void)
      assert.strictEqual(sent.length, 2)
      // One that announces nothing changes nothing by its failure.
      yield* attempt(Effect.fail("rolled back"))
      yield* attempt(Effect.void)
      assert.strictEqual(sent.length, 2)
    }),
  )

  it.effect("does not repeat an announcement because an earlier transaction fails", () =>
    Effect.gen(function* () {
      const { attempt, sent } = make()
      const end = yield* Deferred.make<void, string>()
      const slow = yield* Effect.forkChild(attempt(Deferred.await(end)), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* attempt(Effect.void)
      yield* Deferred.fail(end, "rolled back")
      yield* Fiber.join(slow)
      yield* attempt(Effect.void)
      assert.strictEqual(sent.length, 2)
    }),
  )
})
