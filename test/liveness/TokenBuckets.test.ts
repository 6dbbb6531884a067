import * as Instant from "@tocsin/contract/formats/Instant"
import { TokenBuckets } from "@tocsin/core/kernel/engine/limits/TokenBuckets"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary } from "effect"
import { integer, oneOf } from "../properties/arbitraries.ts"
import { start } from "@tocsin/testing/samples"
import { propertyRuns } from "@tocsin/testing/propertyRuns"

const MICROS_PER_MINUTE = 60_000_000n
const MANY = 1_000

/**
 * A bucket as a sum that is exact: in millionths of a token's sixtieth, all that came in time and
 * was not taken.
 */
const naiveBucket = (perMinute: number, burst: number) => {
  const full = BigInt(burst) * MICROS_PER_MINUTE
  let credit = full
  let at = start
  return {
    take: (now: Instant.Instant): boolean => {
      const elapsed = now > at ? now - at : 0n
      credit = credit + elapsed * BigInt(perMinute) < full ? credit + elapsed * BigInt(perMinute) : full
      at = now
      if (credit < MICROS_PER_MINUTE) return false
      credit -= MICROS_PER_MINUTE
      return true
    },
  }
}

const after = (instant: Instant.Instant, micros: bigint): Instant.Instant =>
  Instant.fromMicros(instant + micros)

const request = Arbitrary.all({
  name: oneOf("a", "b", "c"),
  waitMicros: oneOf(0, 0, 0, 1, 16_667, 500_000, 1_000_000, 59_999_999, 60_000_000, -3_000_000),
})

describe("token buckets", () => {
  it.prop(
    "allow exactly what a plain sum allows, for each name",
    {
      perMinute: oneOf(1, 3, 7, 60, 120, 601),
      burst: oneOf(1, 2, 5, 60),
      requests: Arbitrary.array(request, { minLength: 20, maxLength: 120 }),
    },
    ({ perMinute, burst, requests }) => {
      const buckets = new TokenBuckets({ perMinute, burst }, MANY)
      const naive = new Map<string, ReturnType<typeof naiveBucket>>()
      let now = start
      for (const { name, waitMicros } of requests) {
        now = after(now, BigInt(waitMicros))
        const bucket = naive.get(name) ?? naiveBucket(perMinute, burst)
        naive.set(name, bucket)
        const permission = buckets.permission(name, now)
        assert.deepStrictEqual(buckets.permission(name, now), permission)
        assert.deepStrictEqual(buckets.take(name, now), permission)
        assert.strictEqual(permission.allowed, bucket.take(now))
      }
    },
    { arbitrary: { runs: propertyRuns(300), size: 120, maxShrinks: 500 } },
  )

  it.prop(
    "return the exact number of whole seconds to wait",
    { perMinute: oneOf(1, 3, 7, 60, 120, 601), burst: integer(1, 5), micros: integer(0, 59_000_000) },
    ({ perMinute, burst, micros }) => {
      const exhausted = () => {
        const buckets = new TokenBuckets({ perMinute, burst }, MANY)
        for (let count = 0; count < burst; count++) buckets.take("a", start)
        return buckets
      }
      const now = after(start, BigInt(micros) % (MICROS_PER_MINUTE / BigInt(perMinute)))
      const refused = exhausted().take("a", now)
      if (refused.allowed) return assert.fail("the bucket was not empty")
      const { retryAfterSeconds } = refused
      assert.isTrue(Number.isInteger(retryAfterSeconds) && retryAfterSeconds >= 1)
      const later = after(now, BigInt(retryAfterSeconds) * 1_000_000n)
      assert.isTrue(exhausted().take("a", later).allowed)
      const sooner = after(later, -1_000_000n)
      if (retryAfterSeconds > 1) assert.isFalse(exhausted().take("a", sooner).allowed)
    },
    { arbitrary: { runs: propertyRuns(300), maxShrinks: 500 } },
  )

  it("with a rate of 0 allow everything", () => {
    const buckets = new TokenBuckets({ perMinute: 0, burst: 0 }, MANY)
    for (let count = 0; count < 1_000; count++) assert.isTrue(buckets.take("a", start).allowed)
  })

  it("are kept for the most recently used names, up to their capacity", () => {
    const capacity = 10
    const buckets = new TokenBuckets({ perMinute: 1, burst: 1 }, capacity)
    const isFresh = (name: string) => buckets.take(name, start).allowed
    const names = Array.from({ length: capacity }, (_, at) => `name ${at}`)
    for (const name of names) assert.isTrue(isFresh(name))
    // All are kept; a lookup makes the first one the most recently used.
    for (const name of names.toReversed()) assert.isFalse(isFresh(name))
    assert.isTrue(isFresh("one more"))
    assert.isFalse(isFresh("name 0"))
    assert.isTrue(isFresh("name 9"))
  })

  it("use no more memory for a million names than for a few", () => {
    const buckets = new TokenBuckets({ perMinute: 1, burst: 1 }, 100)
    for (let count = 0; count < 100_000; count++) buckets.take(`name ${count}`, start)
    const remembered = Array.from({ length: 100_000 }, (_, at) => `name ${99_999 - at}`)
    let kept = 0
    for (const name of remembered) {
      if (buckets.take(name, start).allowed) break
      kept += 1
    }
    assert.strictEqual(kept, 100)
  })
})
