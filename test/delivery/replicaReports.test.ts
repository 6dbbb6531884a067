import { assert, describe, it } from "@effect/vitest"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { type Duration, Effect, Logger, Result } from "effect"
import { TestClock } from "effect/testing"
import { openService, type Process, whileTimePasses } from "../service/Service.ts"
import { settled } from "../service/settled.ts"

const NOTIFIERS = ["debug"]

const policyOf = (after: string) =>
  compilePolicy(
    Result.getOrThrow(readPolicy({ routes: [{ match: ["severity = critical"], after }] }, NOTIFIERS)),
    NOTIFIERS,
  )

/** Two processes that report themselves, and the lines that they log about policies. */
const openTwo = Effect.fnUntraced(function* () {
  const service = yield* openService({ notifiers: NOTIFIERS })
  const first = yield* service.open("first", { reports: true })
  const second = yield* service.open("second", { reports: true })
  yield* settled
  const follows = (process: Process, after: string) =>
    Effect.andThen(process.policy.replace(policyOf(after)), settled)
  const passes = (time: Duration.Input) => Effect.andThen(TestClock.adjust(time), settled)
  const hashes = Effect.map(first.storage.replicas, (rows) =>
    rows.filter(({ ended_at }) => ended_at === undefined).map(({ policy_hash }) => policy_hash),
  )
  return { service, first, second, follows, passes, hashes }
})

describe("the reports of replicas", () => {
  it.effect("follow each policy put in force, and end with the process", () =>
    Effect.gen(function* () {
      const { first, second, follows, passes, hashes } = yield* openTwo()
      assert.strictEqual(new Set(yield* hashes).size, 1)
      yield* follows(first, "1m")
      assert.strictEqual(new Set(yield* hashes).size, 2)
      yield* follows(second, "60s")
      yield* follows(second, "1m")
      assert.strictEqual(new Set(yield* hashes).size, 1)
      yield* whileTimePasses(second.close)
      assert.strictEqual((yield* hashes).length, 1)
      yield* passes("1 minute")
      const [row] = yield* first.storage.replicas
      assert.strictEqual(row?.receivers[0]?.name, "debug")
    }),
  )

  it.effect("warn in the log while policies differ, every ten minutes, and say when they agree", () => {
    const lines: Array<string> = []
    const log = Logger.make(({ logLevel, message }) => {
      const text = String(message)
      if (text.includes("policy") || text.includes("policies")) lines.push(`${logLevel} ${text.slice(0, 24)}`)
    })
    return Effect.gen(function* () {
      const { first, second, follows, passes } = yield* openTwo()
      assert.deepStrictEqual(lines, [])
      yield* follows(first, "1m")
      yield* passes("15 seconds")
      assert.deepStrictEqual(lines, [])
      yield* passes("30 seconds")
      const both = ["Warn servers of this installa", "Warn servers of this installa"]
      assert.deepStrictEqual(lines, both)
      yield* passes("9 minutes")
      assert.deepStrictEqual(lines, both)
      yield* passes("1 minute")
      assert.deepStrictEqual(lines, [...both, ...both])
      yield* follows(second, "1m")
      yield* passes("15 seconds")
      assert.deepStrictEqual(lines.slice(4), [
        "Info all servers of this inst",
        "Info all servers of this inst",
      ])
    }).pipe(Effect.provide(Logger.layer([log])))
  })

  it.effect("continue after the storage was away, and delay no stop", () =>
    Effect.gen(function* () {
      const { second, passes, hashes } = yield* openTwo()
      second.faults.isUnreachable = true
      yield* passes("1 hour")
      assert.strictEqual((yield* hashes).length, 1)
      second.faults.isUnreachable = false
      yield* passes("16 seconds")
      assert.strictEqual((yield* hashes).length, 2)
      second.faults.isUnreachable = true
      yield* whileTimePasses(second.close)
    }),
  )
})
