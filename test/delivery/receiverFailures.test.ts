import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  deadLetters,
  deliveryFindings,
  failingReceivers,
} from "@tocsin/server/commands/doctor/deliveryFindings"
import { Effect, Logger, References } from "effect"
import { deferred, delivered, refused } from "../service/Receivers.ts"
import { openTimeline } from "../service/Timeline.ts"

const FAILS =
  "Warn the receiver webhook does not take notifications: fix the cause, then run tocsin doctor --send-test"
const WORKS = "Info the receiver webhook takes notifications again"

/** A timeline, and the lines that it logs about receivers: each with its error. */
const openLogged = <A, E>(
  play: (
    timeline: Effect.Success<ReturnType<typeof openTimeline>>,
    lines: Array<string>,
  ) => Effect.Effect<A, E>,
) => {
  const lines: Array<string> = []
  const log = Logger.make(({ fiber, logLevel, message }) => {
    const { error } = fiber.getRef(References.CurrentLogAnnotations)
    const text = `${logLevel} ${String(message)}`
    if (text.includes("the receiver ")) lines.push(error === undefined ? text : `${text} (${String(error)})`)
  })
  return Effect.gen(function* () {
    return yield* play(yield* openTimeline(), lines)
  }).pipe(Effect.provide(Logger.layer([log])))
}

describe("the log of a receiver", () => {
  it.effect("has a line when it begins to fail, and one when it works again, whatever the attempts", () =>
    openLogged(({ after, disk, webhook }, lines) =>
      Effect.gen(function* () {
        yield* disk.turns("warning")
        assert.deepStrictEqual(lines, [])
        yield* webhook.answers(deferred)
        yield* disk.turns("critical")
        assert.deepStrictEqual(lines, [`${FAILS} (the receiver answered 503)`])
        yield* after("30 minutes")
        assert.strictEqual(lines.length, 1)
        yield* webhook.answers(delivered)
        yield* after("1 hour")
        assert.deepStrictEqual(lines.slice(1), [WORKS])
        yield* webhook.answers(refused)
        yield* disk.turns("ok")
        assert.deepStrictEqual(lines.slice(2), [`${FAILS} (the receiver answered 400)`])
      }),
    ),
  )

  it.effect("has no line of each attempt where some notifications are taken and others not", () =>
    openLogged(({ disk, webhook }, lines) =>
      Effect.gen(function* () {
        for (let count = 0; count < 5; count++) {
          yield* webhook.answers(refused)
          yield* disk.turns("critical")
          yield* disk.turns("ok")
          yield* webhook.answers(delivered)
          yield* disk.turns("warning")
          yield* disk.turns("ok")
        }
        assert.deepStrictEqual(lines, [`${FAILS} (the receiver answered 400)`, WORKS])
      }),
    ),
  )
})

describe("the doctor", () => {
  it.effect("says since when a receiver has failed and why, until it takes a notification again", () =>
    Effect.gen(function* () {
      const { after, disk, process, webhook } = yield* openTimeline()
      const found = Effect.gen(function* () {
        const failing = yield* failingReceivers(process.storage, new Set(["webhook"]))
        const findings = deliveryFindings(
          { failing, waiting: new Map(), undelivered: [], givenUp: [] },
          yield* Instant.now,
        )
        return findings.map(({ level, message }) => `${level}: ${message}`)
      })
      const works = ["ok: no receiver fails, and no notification is late or failed today"]
      yield* disk.turns("warning")
      assert.deepStrictEqual(yield* found, works)
      yield* webhook.answers(deferred)
      yield* disk.turns("critical")
      yield* after("50 seconds")
      assert.deepStrictEqual(yield* found, [
        "attention: the receiver webhook began to fail 50s ago, see tocsin outbox --state retry: the receiver answered 503",
      ])
      yield* webhook.answers(delivered)
      yield* disk.turns("ok")
      yield* after("20 minutes")
      assert.deepStrictEqual(yield* found, works)
    }),
  )
})

describe("the doctor's dead letters", () => {
  it.effect("are those of which their receiver has taken no later firing", () =>
    Effect.gen(function* () {
      const { agent, after, disk, process, webhook } = yield* openTimeline()
      const found = Effect.gen(function* () {
        const now = yield* Instant.now
        const dead = yield* deadLetters(process.storage, new Map([["webhook", true]]), now)
        return dead.map(({ at }) => Number((now - at) / 60_000_000n))
      })
      yield* webhook.answers(refused)
      yield* disk.turns("warning")
      yield* after("30 minutes")
      assert.deepStrictEqual(yield* found, [30])
      yield* agent().reports({ check: "load", status: "warning" })
      yield* after("10 minutes")
      assert.deepStrictEqual(yield* found, [10, 40])
      yield* webhook.answers(delivered)
      yield* disk.turns("critical")
      yield* after("1 minute")
      // The receiver gets again what it refused of others, too.
      assert.deepStrictEqual(yield* found, [])
      yield* webhook.answers(refused)
      yield* agent().reports({ check: "load", status: "critical" })
      yield* after("1 minute")
      assert.deepStrictEqual(yield* found, [1])
      yield* after("25 hours")
      assert.deepStrictEqual(yield* found, [])
    }),
  )
})

describe("a receiver that refuses a firing", () => {
  it.effect("gets no resolved, though another one gets both late", () =>
    Effect.gen(function* () {
      const { after, disk, messenger, outbox, webhook } = yield* openTimeline({
        notifiers: ["messenger", "webhook"],
      })
      yield* webhook.answers(deferred)
      yield* messenger.answers(deferred)
      yield* disk.turns("critical")
      yield* disk.turns("ok")
      yield* webhook.answers(refused)
      yield* messenger.answers(delivered)
      yield* after("1 hour")
      const states = outbox
        .items()
        .map(({ event_type, notifier, state }) => `${notifier} ${event_type} ${state}`)
      assert.sameMembers(states, [
        "messenger firing sent",
        "messenger resolved sent",
        "webhook firing failed",
        "webhook resolved discarded",
      ])
    }),
  )
})
