import { effect } from "@preact/signals"
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Effect } from "effect"
import * as fc from "fast-check"

/** Other tests of this process may have read something, which makes changes wait. */
const load = async () => {
  vi.resetModules()
  vi.useFakeTimers()
  return await import("../../src/state/revisions.ts")
}
afterEach(() => vi.useRealTimers())

describe("changes that come while the pointer is over a list", () => {
  it("wait until it has rested for a second", async () => {
    const { aim, changed, revisionOf } = await load()
    const before = revisionOf(["incidents"])
    const moved = () => revisionOf(["incidents"]) - before
    aim()
    changed(["incidents"])
    vi.advanceTimersByTime(900)
    aim()
    vi.advanceTimersByTime(900)
    assert.strictEqual(moved(), 0)
    vi.advanceTimersByTime(200)
    assert.strictEqual(moved(), 1)
    changed(["incidents"])
    vi.advanceTimersByTime(999)
    assert.strictEqual(moved(), 2)
  })
})

describe("an answer that comes while the pointer is over a list", () => {
  it("waits until it has rested for a second, or has met its aim", async () => {
    const { aim, refresh, rested } = await load()
    const ended: Array<string> = []
    const wait = (name: string) => void rested().then(() => ended.push(name))
    wait("before")
    await vi.advanceTimersByTimeAsync(0)
    assert.deepStrictEqual(ended, ["before"])
    aim()
    wait("moving")
    await vi.advanceTimersByTimeAsync(900)
    aim()
    await vi.advanceTimersByTimeAsync(900)
    assert.deepStrictEqual(ended, ["before"])
    await vi.advanceTimersByTimeAsync(200)
    assert.deepStrictEqual(ended, ["before", "moving"])
    aim()
    refresh()
    wait("after an act")
    await vi.advanceTimersByTimeAsync(0)
    assert.deepStrictEqual(ended, ["before", "moving", "after an act"])
  })
})

const TOPICS = ["incidents", "checks"] as const

/** An event at an open page: the stream names a topic, the operator acts, or time passes. */
const step = fc.record({
  after: fc.oneof(fc.nat(60), fc.nat(3_000)),
  what: fc.constantFrom(...TOPICS, "act", "time"),
})

/** The lists of a page: how long a read of each takes, of however many requests. */
const list = fc.record({ topic: fc.constantFrom(...TOPICS), millis: fc.nat(499) })
const lists = fc.array(list, { minLength: 1, maxLength: 6 })

type Story = ReadonlyArray<{
  readonly after: number
  readonly what: (typeof TOPICS)[number] | "act" | "time"
}>
type Lists = ReadonlyArray<{ readonly topic: (typeof TOPICS)[number]; readonly millis: number }>

/** A list as a page reads it: one read at a time, and again if its revision has moved meanwhile. */
const follow = (revision: () => number, millis: number) => {
  const reads: Array<{ readonly from: number; readonly to: number }> = []
  let wanted = 0
  let isReading = false
  const read = (): void => {
    const of = wanted
    const from = performance.now()
    isReading = true
    setTimeout(() => {
      reads.push({ from, to: performance.now() })
      isReading = false
      if (of !== wanted) read()
    }, millis)
  }
  effect(() => {
    wanted = revision()
    if (!isReading) read()
  })
  return reads
}

/** Plays a story on virtual time: what was named when, and the reads of each list. */
const play = async (story: Story, page: Lists) => {
  const { changed, passTime, refresh, revisionOf } = await load()
  const read = page.map(({ topic, millis }) => ({ topic, reads: follow(() => revisionOf([topic]), millis) }))
  const named: Array<{ readonly topic: string; readonly at: number }> = []
  for (const { after, what } of story) {
    vi.advanceTimersByTime(after)
    if (what === "act") refresh()
    else if (what === "time") passTime()
    else {
      named.push({ topic: what, at: performance.now() })
      changed([what])
    }
  }
  vi.advanceTimersByTime(10_000)
  return { named, read }
}

describe("an open page", () => {
  it.effect("reads a named change within 2 s, where a read takes less than half a second", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 80 }), lists, async (story, page) => {
          const { named, read } = await play(story, page)
          for (const { at, topic } of named)
            for (const { reads } of read.filter((each) => each.topic === topic))
              assert.isTrue(
                reads.some(({ from, to }) => from >= at && to <= at + 2_000),
                `${topic} at ${at}`,
              )
        }),
        { numRuns: propertyRuns(300) },
      ),
    ),
  )

  it.effect("reads each list once a second at most, however quickly results pour in", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ after: fc.nat(60), what: fc.constantFrom(...TOPICS) }), { maxLength: 200 }),
          lists,
          async (story, page) => {
            for (const { reads } of (await play(story, page)).read) {
              const [first, ...later] = reads.map(({ from }) => from)
              const seconds = ((later.at(-1) ?? 0) - (first ?? 0)) / 1_000
              // The page reads it once when it opens, and once at the first change.
              assert.isAtMost(later.length, seconds + 1)
            }
          },
        ),
        { numRuns: propertyRuns(300) },
      ),
    ),
  )
})
