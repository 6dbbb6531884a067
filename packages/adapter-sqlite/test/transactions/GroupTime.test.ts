import { assert, describe, it } from "@effect/vitest"
import { GroupTime } from "../../src/transactions/GroupTime.ts"

/** The time after pages of lists at these milliseconds. */
const after = (...pages: ReadonlyArray<number>): GroupTime => {
  const time = new GroupTime()
  for (const page of pages) time.notePage(page)
  return time
}

describe("the time of a group", () => {
  it("is long while nobody reads lists", () => {
    assert.strictEqual(after().ofGroup(5_000, 5_000), 50)
  })

  it("is short after four pages within two seconds, and as long as the group waited, up to 20 ms", () => {
    const time = after(0, 4_000, 4_500, 5_000, 5_500)
    assert.strictEqual(time.ofGroup(5_600, 5_599), 10)
    assert.strictEqual(time.ofGroup(5_600, 5_585), 15)
    assert.strictEqual(time.ofGroup(5_600, 5_500), 20)
    assert.strictEqual(time.ofGroup(6_001, 6_000), 50)
  })

  it("is long although the server looks for something every few seconds", () => {
    assert.strictEqual(after(0, 2_500, 5_000, 5_000).ofGroup(5_001, 5_000), 50)
  })
})
