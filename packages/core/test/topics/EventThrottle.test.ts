import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { changed, type EventThrottle, QUIET, secondPassed } from "../../src/topics/EventThrottle.ts"
import { ALL_TOPICS, namesOf, NO_TOPICS, type Topics, topicsNamed } from "../../src/topics/Topics.ts"
import { topicNames } from "@tocsin/contract/Topics"
import { propertyRuns } from "@tocsin/testing/propertyRuns"

/** Milliseconds from one change to the next, and its topics. */
const scenario = fc.array(
  fc.record({ after: fc.integer({ min: 0, max: 1_500 }), topics: fc.integer({ min: 1, max: ALL_TOPICS }) }),
  { maxLength: 40 },
)

interface Sent {
  readonly at: number
  readonly topics: Topics
}

/** Plays a scenario against a clock, whose seconds count from each event. */
const play = (changes: ReadonlyArray<{ readonly after: number; readonly topics: Topics }>) => {
  const events: Array<Sent> = []
  let throttle: EventThrottle = QUIET
  let restsUntil = Infinity
  const follow = (at: number, heartbeat: { readonly throttle: EventThrottle; readonly event: Topics }) => {
    throttle = heartbeat.throttle
    if (heartbeat.event !== NO_TOPICS) events.push({ at, topics: heartbeat.event })
    if (heartbeat.event !== NO_TOPICS) restsUntil = at + 1_000
    else if (throttle.state === "quiet") restsUntil = Infinity
  }
  const passTime = (until: number) => {
    while (restsUntil <= until) follow(restsUntil, secondPassed(throttle))
  }
  let now = 0
  const timed = changes.map(({ after, topics }) => {
    now += after
    passTime(now)
    follow(now, changed(throttle, topics))
    return { at: now, topics }
  })
  passTime(now + 2_000)
  return { timed, events, throttle }
}

describe("the throttle of streams", () => {
  it("announces each topic within a second, nothing else, and at most once a second", () => {
    fc.assert(
      fc.property(scenario, (changes) => {
        const { timed, events, throttle } = play(changes)
        assert.strictEqual(throttle.state, "quiet")
        for (const { at, topics } of timed) {
          const inTime = events.filter((sent) => sent.at >= at && sent.at <= at + 1_000)
          const announced = inTime.reduce((all, sent) => all | sent.topics, NO_TOPICS)
          assert.strictEqual(announced & topics, topics)
        }
        for (const [n, sent] of events.entries()) {
          const previous = events[n - 1]?.at ?? -Infinity
          assert.isAtLeast(sent.at - previous, 1_000)
          const since = timed.filter(({ at }) => at >= previous && at <= sent.at)
          assert.strictEqual(
            since.reduce((all, { topics }) => all | topics, NO_TOPICS) & sent.topics,
            sent.topics,
          )
        }
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})

describe("topics", () => {
  it("are a set by their names, and names of newer versions are left out", () => {
    assert.deepStrictEqual(namesOf(ALL_TOPICS), topicNames)
    assert.deepStrictEqual(namesOf(topicsNamed(["outbox", "agents", "newer", "outbox"])), [
      "agents",
      "outbox",
    ])
  })
})
