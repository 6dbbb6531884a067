import { assert, describe, it } from "@effect/vitest"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Effect, Result } from "effect"
import { deferred, delivered, hanging, shadow, silent } from "../service/Receivers.ts"
import { openTimeline } from "../service/Timeline.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

/** A timeline whose webhook gets no resolutions. */
const open = Effect.fnUntraced(function* (changes: object = { resolved: false }) {
  const timeline = yield* openTimeline()
  const put = (more: object) => {
    const webhook = { kind: "webhook", url_env: "A", secret_env: "B", ...more }
    const policy = Result.getOrThrow(readPolicy({ receivers: { webhook } }, []))
    return timeline.process.policy.replace(compilePolicy(policy, []))
  }
  yield* put(changes)
  return { ...timeline, put }
})

const test = testsFrom(open(), it.effect)

describe("a receiver with resolved: false", () => {
  test("gets each firing, and no resolution", function* ({ after, disk, outbox, webhook }) {
    yield* disk.turns("warning")
    yield* disk.turns("critical")
    yield* disk.turns("ok")
    yield* after("1 day")
    yield* webhook.has("firing warning a/disk", "firing critical a/disk")
    yield* disk.turns("critical")
    yield* webhook.has("firing warning a/disk", "firing critical a/disk", "firing critical a/disk")
    yield* outbox.is("firing sent", "firing sent", "firing sent")
  })

  test("gets no retry once the incident has resolved, also silently", function* (opened) {
    const { after, disk, outbox, webhook } = opened
    yield* webhook.answers(deferred)
    yield* disk.turns("critical")
    yield* outbox.is("firing retry")
    yield* disk.turns("ok", { loud: false })
    assert.strictEqual(outbox.item().discarded_because, "incident_resolved")
    yield* webhook.answers(delivered)
    yield* after("1 day")
    yield* webhook.has()
    yield* outbox.is("firing discarded")
  })

  test("gets no further attempt after one that was under way", function* ({ after, disk, outbox, webhook }) {
    yield* webhook.answers(silent)
    yield* disk.turns("critical")
    yield* outbox.is("firing sending")
    yield* disk.turns("ok")
    yield* outbox.is("firing sending")
    yield* webhook.answers(delivered)
    yield* after("1 day")
    yield* outbox.is("firing discarded")
    assert.strictEqual(outbox.item().discarded_because, "incident_resolved")
    yield* webhook.has()
  })

  test("gets no further attempt after a lease that has expired", function* (opened) {
    const { after, disk, outbox, webhook } = opened
    yield* webhook.answers(hanging)
    yield* disk.turns("critical")
    yield* disk.turns("ok")
    yield* outbox.is("firing sending")
    yield* after("1 hour")
    yield* outbox.is("firing discarded")
  })

  test("has a firing that is sent after its incident resolved as any that is sent", function* (opened) {
    const { after, disk, outbox, webhook } = opened
    yield* webhook.answers({ ...delivered, answeringMillis: 5_000 })
    yield* disk.turns("critical")
    yield* disk.turns("ok")
    yield* after("1 minute")
    yield* outbox.is("firing sent")
    assert.strictEqual(outbox.item().discarded_because, undefined)
  })

  test("is judged by the policy of the moment at which the incident resolves", function* (opened) {
    const { after, disk, outbox, put, webhook } = opened
    yield* webhook.answers(silent)
    yield* disk.turns("critical")
    yield* disk.turns("ok")
    yield* put({ resolved: true })
    yield* after("1 day")
    yield* outbox.is("firing discarded")
    yield* webhook.answers(delivered)
    yield* disk.turns("critical")
    yield* disk.turns("ok")
    yield* outbox.is("firing discarded", "firing sent", "resolved sent")
  })

  test("gets none as a shadow, and none when an agent is deleted", function* (opened) {
    const { agent, disk, outbox, webhook } = opened
    yield* webhook.answers(shadow)
    yield* disk.turns("critical")
    yield* disk.turns("ok")
    yield* webhook.answers(delivered)
    yield* disk.turns("critical")
    yield* agent().isDeleted
    yield* outbox.is("firing discarded", "firing sent")
  })
})

/** A timeline whose messenger is of type apprise. */
const openApprise = Effect.gen(function* () {
  const timeline = yield* openTimeline({ notifiers: ["messenger"] })
  const apprise = { kind: "messenger", type: "apprise", url_env: "A" }
  const policy = Result.getOrThrow(readPolicy({ receivers: { messenger: apprise } }, []))
  yield* timeline.process.policy.replace(compilePolicy(policy, []))
  return timeline
})

describe("a receiver of several services", () => {
  const several = testsFrom(openApprise, it.effect)

  several("gets a resolution that waits for no retry", function* ({ disk, messenger, outbox }) {
    yield* messenger.answers(deferred)
    yield* disk.turns("critical")
    yield* outbox.is("firing retry")
    yield* messenger.answers(delivered)
    yield* disk.turns("ok")
    yield* outbox.is("firing discarded", "resolved sent")
    yield* messenger.has("resolved critical a/disk")
  })

  several("gets it after an attempt that was under way, which is the last", function* (opened) {
    const { after, disk, messenger, outbox } = opened
    yield* messenger.answers({ ...deferred, answeringMillis: 5_000 })
    yield* disk.turns("critical")
    yield* messenger.answers(delivered)
    yield* disk.turns("ok")
    yield* outbox.is("firing sending", "resolved pending")
    yield* after("5 seconds")
    yield* outbox.is("firing discarded", "resolved sent")
    yield* messenger.has("resolved critical a/disk")
  })
})
