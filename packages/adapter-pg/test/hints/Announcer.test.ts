import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { topicsNamed } from "@tocsin/core/kernel/topics/Topics"
import type { PgClient } from "../../src/client/PgClient.ts"
import { sqlError } from "../../src/client/toSqlError.ts"
import { eventually } from "../client/eventually.ts"
import { Announcer, TopicAnnouncer } from "../../src/hints/remoteWakeups.ts"

/** A client that notes what it sends, after so many statements that fail. */
const noting = (sent: Array<unknown>, failures = 0): PgClient["Service"] => {
  let left = failures
  const unused = Effect.die(new Error("not used"))
  return {
    query: (_statement, parameters) =>
      Effect.suspend(() => {
        if (left-- > 0)
          return Effect.fail(sqlError("ConnectionError", { message: "lost", operation: "execute" }))
        sent.push(parameters[1])
        return Effect.succeed([])
      }),
    queryJson: () => unused,
    listen: () => unused,
    sound: Effect.void,
    poolStatus: unused,
  }
}

/** An announcer, and what it has sent. */
const make = () => {
  const announcer = new Announcer("one")
  const sent: Array<unknown> = []
  const pg = noting(sent)
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

describe("an announcer of topics", () => {
  it.live("announces what it could not with what has changed since", () =>
    Effect.gen(function* () {
      const sent: Array<unknown> = []
      const announcer = yield* TopicAnnouncer.start(noting(sent, 1), "one")
      announcer.note(topicsNamed(["audit"]))
      yield* eventually(Effect.sync(() => sent.length > 0))
      assert.deepStrictEqual(sent, ["one audit"])
      announcer.note(topicsNamed(["agents"]))
      yield* eventually(Effect.sync(() => sent.length > 1))
      assert.deepStrictEqual(sent, ["one audit", "one agents"])
    }),
  )
})
