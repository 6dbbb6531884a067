import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { CurrentInstruments, Instruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { Effect, Logger, Result } from "effect"
import { criticalChecks } from "../service/agents.ts"
import { type Answer, delivered, refused, throwing } from "../service/Receivers.ts"
import { openTimeline } from "../service/Timeline.ts"
import { transact } from "@tocsin/testing/transact"
import { deliveryMetrics } from "@tocsin/core/heart/notifications/deliveryMetrics"

/** Requests go to another process, whose storage is always reachable. */
const open = Effect.fnUntraced(function* (answer: Answer = delivered, hints = true) {
  const timeline = yield* openTimeline({ hints, separateFront: true })
  yield* timeline.webhook.answers(answer)
  return { ...timeline, faults: timeline.process.faults, receivers: timeline.service.receivers }
})

const takesASecond: Answer = { ...delivered, answeringMillis: 1_000 }

describe("while the storage is unreachable", () => {
  it.effect("delivery waits, and continues within a second of its return", () =>
    Effect.gen(function* () {
      const { disk, outbox, after, faults } = yield* open()
      faults.isUnreachable = true
      yield* disk.turns("critical")
      yield* after("10 minutes")
      yield* outbox.is("firing pending")
      faults.isUnreachable = false
      yield* after("1 second")
      yield* outbox.is("firing sent")
    }),
  )

  it.effect("the result of an attempt is kept, so that no message is sent twice", () =>
    Effect.gen(function* () {
      const { disk, webhook, outbox, after, faults } = yield* open(takesASecond)
      yield* disk.turns("critical")
      faults.isUnreachable = true
      yield* after("50 seconds")
      yield* outbox.is("firing sending")
      faults.isUnreachable = false
      yield* after("2 seconds")
      yield* outbox.is("firing sent")
      yield* after("1 hour")
      yield* webhook.has("firing critical a/disk")
    }),
  )

  it.effect("for longer than a lease, the attempt is repeated: at least once", () =>
    Effect.gen(function* () {
      const { disk, webhook, outbox, after, faults } = yield* open(takesASecond)
      yield* disk.turns("critical")
      faults.isUnreachable = true
      yield* after("90 seconds")
      faults.isUnreachable = false
      yield* after("30 seconds")
      yield* outbox.is("firing sent")
      yield* webhook.has("firing critical a/disk", "firing critical a/disk")
      assert.strictEqual(outbox.item().attempts, 2)
    }),
  )

  it.effect("for longer than a lease, unsettled attempts do not use up the concurrency limit", () =>
    Effect.gen(function* () {
      const { agent, disk, after, faults, receivers } = yield* open(takesASecond, false)
      yield* agent().reports(...criticalChecks(8))
      yield* after("15 seconds")
      assert.strictEqual(receivers.attempts.length, 8)
      faults.isUnreachable = true
      yield* after("65 seconds")
      faults.isUnreachable = false
      yield* disk.turns("critical")
      yield* after("16 seconds")
      assert.isAbove(receivers.attempts.length, 8)
    }),
  )

  it.effect("the watches of a new policy are created later", () =>
    Effect.gen(function* () {
      const { after, process } = yield* openTimeline({
        process: {
          reports: true,
          probes: {
            check: () => Effect.void,
            open: () => Result.succeed({}),
            run: () => Effect.succeed({ status: "ok", output: "", duration_ms: 1 }),
          },
        },
      })
      const watches = process.storage.page({
        list: "watches",
        filter: {},
        sort: "name",
        direction: "asc",
        from: undefined,
        isBackward: false,
        limit: 9,
      })
      process.faults.isUnreachable = true
      yield* process.policy.replace(
        compilePolicy({ watches: [{ name: CheckId.make("shop"), tcp: { host: "shop", port: 443 } }] }, []),
      )
      yield* after("1 minute")
      assert.lengthOf(yield* watches, 0)
      process.faults.isUnreachable = false
      yield* after("10 seconds")
      const [created] = yield* watches
      if (created === undefined) return assert.fail("no watch is created")
      // A newer version stores a field that this one does not know: nothing is known of the watch from then on.
      const probe = { tcp: { host: "shop", port: 443, later: true } }
      yield* transact(process.storage, function* (unit) {
        yield* [{ rows: { watch: [created.name] } }]
        unit.of("watch").put({ ...created, probe })
      })
      yield* after("3 minutes")
      const [unread] = yield* watches
      assert.include(unread, { status: "unknown" })
      assert.include(unread?.output, "this version cannot read the watch")
    }),
  )

  it.effect("for an hour, nothing is probed; then watches are, and tell of nothing that is over", () =>
    Effect.gen(function* () {
      let [probed, status] = [0, "ok" as CheckStatus]
      const answer = Effect.sync(() => {
        probed += 1
        return { status, output: "", duration_ms: 1 }
      })
      const { after, incidents, process } = yield* openTimeline({
        process: {
          reports: true,
          probes: {
            check: () => Effect.void,
            open: () => Result.succeed({}),
            run: () => Effect.delay(answer, "2 seconds"),
          },
        },
      })
      const name = CheckId.make("shop")
      const watch = { name, tcp: { host: "shop", port: 443 }, confirm: { bad: 1 } }
      yield* process.policy.replace(compilePolicy({ watches: [watch] }, []))
      yield* after("3 minutes")
      const check = Effect.map(process.storage.check(AgentId.make("watches"), name), (row) => row?.status)
      assert.strictEqual(yield* check, "ok")
      process.faults.isUnreachable = true
      status = "critical"
      const before = probed
      yield* after("1 hour")
      // One may be under way when the storage leaves. It is probed again.
      assert.isAtMost(probed - before, 1)
      process.faults.isUnreachable = false
      status = "ok"
      yield* after("30 seconds")
      assert.isAbove(probed - before, 0)
      yield* incidents.areOpen()
      status = "critical"
      yield* after("75 seconds")
      yield* incidents.areOpen("watches/shop")
      assert.strictEqual(yield* check, "critical")
    }),
  )

  it.effect.each([
    ["1 minute", "is kept", true],
    ["2 minutes", "decides nothing: its place may have been cut off meanwhile", false],
    ["1 hour", "decides nothing: it may be over", false],
  ] as const)("for %s, a probe that was under way %s", ([time, _, isKept]) =>
    Effect.gen(function* () {
      let [leave, status] = [() => {}, "ok" as CheckStatus]
      const { after, incidents, process } = yield* openTimeline({
        process: {
          reports: true,
          probes: {
            check: () => Effect.void,
            open: () => Result.succeed({}),
            run: () =>
              Effect.suspend(() => {
                leave()
                return Effect.delay(Effect.succeed({ status, output: "", duration_ms: 1 }), "2 seconds")
              }),
          },
        },
      })
      const watch = { name: CheckId.make("shop"), tcp: { host: "shop", port: 443 }, confirm: { bad: 2 } }
      yield* process.policy.replace(compilePolicy({ watches: [watch] }, []))
      yield* after("3 minutes")
      leave = () => {
        process.faults.isUnreachable = true
        status = "critical"
      }
      yield* after("1 minute")
      assert.isTrue(process.faults.isUnreachable)
      leave = () => {}
      yield* after(time)
      process.faults.isUnreachable = false
      // It is the first of two failures, and the next probe the second.
      yield* after("35 seconds")
      yield* incidents.areOpen(...(isKept ? ["watches/shop"] : []))
      yield* after("1 minute")
      yield* incidents.areOpen("watches/shop")
    }),
  )

  it.effect("each background task logs that once a minute at most", () => {
    const lines = new Map<string, number>()
    const log = Logger.make(({ message }) => {
      const text = String(message)
      lines.set(text, (lines.get(text) ?? 0) + 1)
    })
    return Effect.gen(function* () {
      const { after, process } = yield* openTimeline({ process: { keepsHouse: true, reports: true } })
      process.faults.isUnreachable = true
      yield* after("10 minutes")
      assert.isAbove(lines.size, 8)
      for (const [text, count] of lines) assert.isAtMost(count, 11, text)
    }).pipe(Effect.provide(Logger.layer([log])))
  })
})

describe("a dead letter", () => {
  it.effect("is counted once, after its last attempt", () =>
    Effect.gen(function* () {
      const instruments = new Instruments()
      const { disk, outbox, after } = yield* open(refused).pipe(
        Effect.provideService(CurrentInstruments, instruments),
      )
      assert.strictEqual(instruments.of(deliveryMetrics).givenUp.of("webhook").value, 0)
      yield* disk.turns("critical")
      yield* outbox.is("firing failed")
      yield* after("1 hour")
      assert.strictEqual(instruments.of(deliveryMetrics).givenUp.of("webhook").value, 1)
    }),
  )
})

describe("a defect", () => {
  it.effect("of a notifier is a failed attempt, and its worker keeps running", () =>
    Effect.gen(function* () {
      const { disk, outbox, after, receivers } = yield* open(throwing)
      yield* disk.turns("critical")
      assert.deepInclude(outbox.item(), {
        state: "retry",
        last_error: "the notifier failed unexpectedly; see the log",
      })
      yield* after("6 seconds")
      assert.strictEqual(receivers.attempts.length, 2)
    }),
  )

  it.effect("of the storage does not end a worker", () =>
    Effect.gen(function* () {
      const { disk, outbox, after, faults } = yield* open()
      faults.throws = true
      yield* disk.turns("critical")
      yield* after("1 minute")
      yield* outbox.is("firing pending")
      faults.throws = false
      yield* after("1 second")
      yield* outbox.is("firing sent")
    }),
  )
})

describe("right after the storage refused all writes for longer than the stale threshold", () => {
  it.effect("an incident that opens notifies as usual, since no hold ended meanwhile", () =>
    Effect.gen(function* () {
      const { after, disk, front, webhook } = yield* openTimeline({ process: { keepsHouse: true } })
      yield* after("1 minute")
      front.faults.isReadOnly = true
      yield* after("3 minutes")
      front.faults.isReadOnly = false
      yield* disk.turns("critical")
      yield* after("15 seconds")
      yield* webhook.has("firing critical a/disk")
    }),
  )
})
