import { assert, describe, it } from "@effect/vitest"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { Receivers } from "@tocsin/core/heart/notifications/Receivers"
import type { ReplicaRecord } from "@tocsin/core/heart/model/ReplicaRecord"
import { Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { type Health, HealthExamination } from "@tocsin/core/heart/health/HealthExamination"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { SilenceRequest } from "@tocsin/contract/silences/Silences"
import { compilePolicy, type Policy } from "@tocsin/core/heart/policy/compilePolicy"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { Context, Duration, Effect, Fiber, Layer, Stream } from "effect"
import { deferred, delivered, refused } from "../service/Receivers.ts"
import { whileTimePasses } from "../service/Service.ts"
import { openTimeline, type TimelineOptions } from "../service/Timeline.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

/** A process that delivers by webhook, and the examination of its health. */
const openWith = Effect.fnUntraced(function* (options: TimelineOptions = {}) {
  const timeline = yield* openTimeline({ hints: true, ...options })
  const { front, service } = timeline
  const checkOf = Effect.fnUntraced(function* (
    storage: Storage["Service"],
    configured: ReadonlyArray<NotifierName> = ["webhook"],
    inForce: Pick<Policy, "outdated" | "unavailable"> = {},
  ) {
    const notifiers = new Map(configured.map((kind) => [kind, service.receivers.notifier(kind, "first")]))
    const services = yield* Layer.build(
      HealthExamination.layer.pipe(
        Layer.provide(Commits.layer),
        Layer.provide([
          Layer.succeed(Storage, storage),
          Layer.succeed(PolicyInForce, {
            current: () => ({ ...compilePolicy({}, configured), ...inForce }),
            since: () => Instant.fromMillis(0),
            inForceSince: () => Instant.fromMillis(0),
            wasFollowed: () => {},
            given: () => ({ notifiers: configured, keepsNotifiers: true }),
            elsewhere: () => [],
            giveElsewhere: () => Effect.void,
            replace: () => Effect.void,
            replaced: Stream.empty,
          }),
          Receivers.layer.pipe(Layer.provide(Layer.succeed(Notifiers, notifiers))),
        ]),
      ),
    )
    return Context.get(services, HealthExamination).examine(false)
  })
  return { ...timeline, checkOf, check: yield* checkOf(front.storage) }
})

const open = openWith()

/** Nothing notifies of these checks for a day. */
const MAINTENANCE = {
  matchers: [{ field: "check_id", op: "glob", value: "disk*" }],
  for: Duration.days(1),
  comment: "new disks",
} satisfies SilenceRequest

/** More results than the examination keeps notifications. */
const DISKS = Array.from({ length: 60 }, (_, disk) => ({
  check: `disk-${disk}`,
  status: "critical" as const,
}))

const faultsOf = (health: Health): ReadonlyArray<string> =>
  health.state === "unwell" ? health.faults.map(({ text }) => text) : []

const test = testsFrom(open, it.effect)

describe("a service is well", () => {
  test("while nothing happens, and while notifications are delivered", function* ({ disk, after, check }) {
    assert.deepStrictEqual(yield* check, { state: "well" })
    yield* disk.turns("critical")
    yield* after("1 hour")
    assert.deepStrictEqual(yield* check, { state: "well" })
  })

  test("unless no running server can use a receiver of its policy", function* ({ checkOf, front }) {
    const unavailable = new Map([
      ["webhook", "its secret is missing"],
      ["chat", "its secret is missing"],
    ])
    const now = yield* Instant.now
    const other: ReplicaRecord = {
      id: "other",
      version: "1",
      policy_hash: "",
      probes: false,
      agent_sha256: undefined,
      known_names: undefined,
      started_at: now,
      seen_at: now,
      ended_at: undefined,
      receivers: [{ name: "webhook" }, { name: "chat", unavailable: "its secret is missing" }],
    }
    const storage = { ...front.storage, replicas: Effect.succeed([other]) }
    const here = yield* checkOf(storage, [], { unavailable })
    assert.deepStrictEqual(faultsOf(yield* here), ["no running server can use the receiver chat"])
  })

  test("unless its stored policy breaks a rule of this version", function* ({ checkOf, front }) {
    const outdated = [{ line: 1, path: "windows[0].tz", message: "must be an IANA time zone" }]
    assert.deepStrictEqual(faultsOf(yield* yield* checkOf(front.storage, [], { outdated })), [
      "the stored policy breaks a rule of this version: see tocsin doctor",
    ])
    const sound = yield* checkOf(front.storage, [], { outdated: [] })
    assert.deepStrictEqual(yield* sound, { state: "well" })
  })

  test("until a receiver has been down for 15 minutes, and again after it recovered", function* (opened) {
    const { disk, webhook, after, check } = opened
    yield* webhook.answers(deferred)
    yield* disk.turns("critical")
    yield* after("14 minutes")
    assert.deepStrictEqual(yield* check, { state: "well" })
    yield* after("3 minutes")
    assert.deepStrictEqual(faultsOf(yield* check), [
      "webhook has not delivered a notification for 17 minutes",
    ])
    yield* webhook.answers(delivered)
    yield* after("1 hour")
    assert.deepStrictEqual(yield* check, { state: "well" })
  })

  test("until a receiver refuses a notification, and again an hour later", function* (opened) {
    const { disk, webhook, after, check } = opened
    yield* webhook.answers(refused)
    yield* disk.turns("critical")
    yield* after("5 minutes")
    assert.deepStrictEqual(faultsOf(yield* check), ["webhook failed to deliver a notification 5 minutes ago"])
    yield* after("1 hour")
    assert.deepStrictEqual(yield* check, { state: "well" })
  })

  test("while only notifiers of other replicas fail", function* ({ process, disk, webhook, after, checkOf }) {
    yield* webhook.answers(deferred)
    yield* disk.turns("critical")
    yield* after("20 minutes")
    assert.deepStrictEqual(yield* yield* checkOf(process.storage, ["messenger"]), { state: "well" })
    assert.deepStrictEqual(yield* yield* checkOf(process.storage, []), { state: "well" })
  })

  it.effect("while a receiver that was removed is down, which hides no other that is down", () =>
    Effect.gen(function* () {
      const timeline = yield* openWith({ notifiers: ["webhook", "messenger"] })
      const { agent, after, checkOf, messenger, process, webhook } = timeline
      const check = yield* checkOf(process.storage, ["messenger"])
      yield* webhook.answers(deferred)
      yield* agent().reports(...DISKS)
      yield* messenger.answers(deferred)
      yield* agent().reports({ check: "load", status: "critical" })
      yield* after("14 minutes")
      assert.deepStrictEqual(yield* check, { state: "well" })
      yield* after("3 minutes")
      assert.deepStrictEqual(faultsOf(yield* check), [
        "messenger has not delivered a notification for 17 minutes",
      ])
    }),
  )

  it.effect("while a receiver that was removed refuses, which hides no other that refuses", () =>
    Effect.gen(function* () {
      const timeline = yield* openWith({ notifiers: ["webhook", "messenger"] })
      const { agent, after, checkOf, messenger, process, webhook } = timeline
      const check = yield* checkOf(process.storage, ["messenger"])
      yield* messenger.answers(refused)
      yield* agent().reports({ check: "load", status: "critical" })
      yield* messenger.answers(delivered)
      yield* webhook.answers(refused)
      yield* after("5 minutes")
      yield* agent().reports(...DISKS)
      assert.deepStrictEqual(faultsOf(yield* check), [
        "messenger failed to deliver a notification 5 minutes ago",
      ])
    }),
  )

  it.effect("while notifications are held, which hide none that is late", () =>
    Effect.gen(function* () {
      const { agent, after, check, front, process, webhook } = yield* openWith({ separateFront: true })
      yield* front.operations.silence(MAINTENANCE)
      yield* agent().reports(...DISKS)
      yield* after("20 minutes")
      yield* webhook.has()
      assert.deepStrictEqual(yield* check, { state: "well" })
      yield* whileTimePasses(process.close)
      yield* agent().reports({ check: "load", status: "critical" })
      yield* after("20 minutes")
      assert.deepStrictEqual(faultsOf(yield* check), [
        "webhook has not delivered a notification for 20 minutes",
      ])
    }),
  )

  test("while its storage accepts writes", function* ({ process, check }) {
    process.faults.isReadOnly = true
    assert.deepStrictEqual(faultsOf(yield* check), ["the storage refuses writes (full)"])
    process.faults.isReadOnly = false
    assert.deepStrictEqual(yield* check, { state: "well" })
  })

  test("while its storage answers within 5 seconds", function* ({ process, after, checkOf }) {
    const hanging = yield* checkOf(Storage.of({ ...process.storage, probe: Effect.never }))
    const looking = yield* Effect.forkChild(hanging)
    yield* after("5 seconds")
    assert.deepStrictEqual(faultsOf(yield* Fiber.join(looking)), [
      "the storage does not answer (timed_out)",
      "the storage refuses writes (timed_out)",
    ])
    const defective = yield* checkOf(
      Storage.of({ ...process.storage, page: () => Effect.die(new Error("a defect")) }),
    )
    assert.strictEqual(faultsOf(yield* defective)[0], "the storage does not answer (other)")
  })
})
