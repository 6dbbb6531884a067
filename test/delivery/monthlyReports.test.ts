import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import type { MonthlyReport, SendResult } from "@tocsin/core/heart/notifications/Notifiers"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Duration, Effect, Result } from "effect"
import { settled } from "../service/settled.ts"
import type { TypedReceiver } from "../service/Receivers.ts"
import { type Clocks, onShiftedClock } from "../service/ShiftedClock.ts"
import { openTimeline } from "../service/Timeline.ts"

const OFFICE = {
  kind: "messenger",
  type: "email",
  url_env: "SMTP",
  from: "tocsin@example.org",
  to: ["ops@example.org"],
  reports: "monthly",
}

const policyOf = (office: object, tz: string) =>
  compilePolicy(Result.getOrThrow(readPolicy({ tz, receivers: { office } }, [])), [])

/** A service whose receiver wants reports, on 31 January 2026. Its clock is set ahead instead of passing days. */
const openOn = Effect.fnUntraced(function* ({ clock }: Clocks) {
  const sent: Array<MonthlyReport & { readonly at: string }> = []
  const answers: Array<SendResult | Effect.Effect<SendResult>> = []
  const office: TypedReceiver = {
    kind: "messenger",
    send: (_, arrive) => Effect.as(arrive, { outcome: "delivered" }),
    sendReport: (report) =>
      Effect.gen(function* () {
        sent.push({ ...report, at: Instant.format(yield* Instant.now) })
        const answer = answers.shift() ?? { outcome: "delivered" }
        return Effect.isEffect(answer) ? yield* answer : answer
      }),
  }
  const timeline = yield* openTimeline({
    notifiers: ["office"],
    types: new Map([["office", office]]),
    policy: policyOf(OFFICE, "Europe/Berlin").document,
    process: { sendsReports: true },
  })
  const { service } = timeline
  const setTo = Effect.fnUntraced(function* (text: string) {
    yield* settled
    const ahead = Number(Instant.parse(text) ?? assert.fail(text)) - Number(yield* Instant.now)
    clock.setAhead(Duration.micros(BigInt(ahead)))
  })
  yield* timeline.after("10 seconds")
  return {
    ...timeline,
    answers,
    sent,
    setTo,
    row: (month: string) =>
      Effect.map(timeline.process.storage.rows("monthly_report", [`office ${month}`]), ([row]) => row),
    opensAnother: Effect.andThen(service.open("second", { sendsReports: true }), settled),
    has: (...moments: ReadonlyArray<string>) =>
      Effect.sync(() =>
        assert.deepStrictEqual(
          sent.map(({ at, month }) => `${month} at ${at.slice(0, 16)}`),
          moments,
        ),
      ),
  }
})

const test = (
  name: string,
  run: (
    opened: Effect.Success<ReturnType<typeof openOn>> & Clocks,
  ) => Generator<Effect.Effect<unknown, unknown>, void>,
) =>
  it.effect(name, () =>
    onShiftedClock((clocks) =>
      Effect.flatMap(openOn(clocks), (opened) => Effect.gen(() => run({ ...opened, ...clocks }))),
    ),
  )

const FIRST = "2026-01 at 2026-02-01T07:00"

describe("the report of a month", () => {
  test("goes out on the first at 8:00 by the clock of the reader, once, and again a month later", function* ({
    after,
    has,
    sent,
    setTo,
  }) {
    yield* setTo("2026-02-01T06:59:50Z")
    yield* has()
    yield* after("20 seconds")
    yield* has(FIRST)
    assert.deepInclude(sent[0], { tz: "Europe/Berlin", link: undefined })
    assert.strictEqual(sent[0]?.report.groups[0]?.checks ?? 0, 0)
    yield* setTo("2026-02-20T00:00:00Z")
    yield* after("1 minute")
    yield* has(FIRST)
    yield* setTo("2026-03-01T07:00:00Z")
    yield* after("10 seconds")
    yield* has(FIRST, "2026-02 at 2026-03-01T07:00")
  })

  test("is sent once by two servers", function* ({ after, has, opensAnother, setTo }) {
    yield* opensAnother
    yield* setTo("2026-02-01T07:00:00Z")
    yield* after("1 minute")
    yield* has(FIRST)
  })

  test("is no row of the outbox", function* ({ after, outbox, setTo }) {
    yield* setTo("2026-02-01T07:00:00Z")
    yield* after("10 seconds")
    yield* outbox.is()
  })

  test("follows when a server is back within 24 hours", function* ({
    has,
    after,
    process,
    opensAnother,
    setTo,
  }) {
    yield* process.close
    yield* setTo("2026-02-02T06:30:00Z")
    yield* opensAnother
    yield* after("10 seconds")
    yield* has("2026-01 at 2026-02-02T06:30")
  })

  test("fails where no server was there for 24 hours", function* ({
    has,
    after,
    process,
    row,
    opensAnother,
    setTo,
  }) {
    yield* process.close
    yield* setTo("2026-02-02T07:00:00Z")
    yield* opensAnother
    yield* after("10 seconds")
    yield* has()
    assert.deepInclude(yield* row("2026-01"), {
      state: "failed",
      last_error: "no server that can use this receiver ran within 24 h: look at tocsin doctor",
    })
  })

  test("is tried again like a notification, for 24 hours", function* ({
    answers,
    after,
    has,
    sent,
    row,
    setTo,
  }) {
    const down = { outcome: "deferred", error: "The mail server is down." } as const
    answers.push(...Array.from({ length: 20 }, () => down))
    yield* setTo("2026-02-01T07:00:00Z")
    yield* after("1 minute")
    assert.lengthOf(sent, 3)
    assert.deepInclude(yield* row("2026-01"), { state: "waiting", last_error: down.error })
    // No attempt follows, so nothing waits.
    yield* after("24 hours")
    assert.deepInclude(yield* row("2026-01"), { state: "failed", last_error: down.error })
    assert.isAtMost(sent.length, 14)
    assert.isAtLeast(sent.length, 12)
    assert.strictEqual(new Set(sent.map(({ id }) => id)).size, 1)
    yield* has(...sent.map(({ at, month }) => `${month} at ${at.slice(0, 16)}`))
  })

  test("keeps the recipients that have it, and ends where one refused", function* ({
    answers,
    after,
    sent,
    row,
    setTo,
  }) {
    const recipients = [{ address: "ann@example.org" }]
    answers.push({ outcome: "deferred", error: "No mail yet for bob.", recipients })
    answers.push({ outcome: "delivered", error: "The mail server refused bob." })
    yield* setTo("2026-02-01T07:00:00Z")
    yield* after("1 minute")
    assert.deepStrictEqual(
      sent.map((each) => each.recipients),
      [undefined, recipients],
    )
    assert.deepInclude(yield* row("2026-01"), { state: "sent", last_error: "The mail server refused bob." })
  })

  test("fails at once where it is refused for good", function* ({ answers, after, has, row, setTo }) {
    answers.push({ outcome: "refused", error: "The mail server answered 550." })
    yield* setTo("2026-02-01T07:00:00Z")
    yield* after("1 hour")
    yield* has(FIRST)
    assert.deepInclude(yield* row("2026-01"), {
      state: "failed",
      last_error: "The mail server answered 550.",
    })
  })

  test("is none for a receiver that is shadowed, which shows nothing of it", function* ({
    answers,
    after,
    has,
    row,
    setTo,
  }) {
    answers.push({ outcome: "shadow" })
    yield* setTo("2026-02-01T07:00:00Z")
    yield* after("1 hour")
    yield* has(FIRST)
    assert.isUndefined(yield* row("2026-01"))
    yield* setTo("2026-03-01T07:00:00Z")
    yield* after("10 seconds")
    yield* has(FIRST, "2026-02 at 2026-03-01T07:00")
    assert.deepInclude(yield* row("2026-02"), { state: "sent" })
  })

  test("has one attempt at a time, however long that takes", function* ({
    answers,
    after,
    has,
    opensAnother,
    row,
    setTo,
  }) {
    answers.push(Effect.as(Effect.sleep("10 minutes"), { outcome: "delivered" } as const))
    yield* opensAnother
    yield* setTo("2026-02-01T07:00:00Z")
    yield* after("9 minutes")
    yield* has(FIRST)
    yield* after("2 minutes")
    yield* has(FIRST)
    assert.deepInclude(yield* row("2026-01"), { state: "sent" })
  })

  test("is not sent again where the storage fails as its attempt ends", function* ({
    answers,
    after,
    has,
    process,
    row,
    setTo,
  }) {
    const failing = Effect.sync(() => void (process.faults.isReadOnly = true))
    answers.push(Effect.as(failing, { outcome: "delivered" } as const))
    yield* setTo("2026-02-01T07:00:00Z")
    yield* after("30 seconds")
    process.faults.isReadOnly = false
    yield* after("5 minutes")
    yield* has(FIRST)
    assert.deepInclude(yield* row("2026-01"), { state: "sent" })
  })

  test("goes on elsewhere when its server shuts down", function* ({
    answers,
    after,
    has,
    opensAnother,
    process,
    setTo,
  }) {
    answers.push(Effect.never)
    yield* setTo("2026-02-01T07:00:00Z")
    yield* after("10 seconds")
    yield* process.close
    yield* opensAnother
    yield* after("10 seconds")
    yield* has(FIRST, FIRST)
  })

  test("is none for a receiver that was added after 8:00 on the first", function* ({
    after,
    front,
    has,
    row,
    setTo,
  }) {
    yield* front.policy.replace(policyOf(OFFICE, "Asia/Tokyo"))
    yield* front.policy.replace(compilePolicy({}, []))
    yield* setTo("2026-03-01T07:00:01Z")
    yield* front.policy.replace(policyOf(OFFICE, "Europe/Berlin"))
    yield* after("1 hour")
    yield* has()
    assert.deepInclude(yield* row("2026-03"), { state: "waiting" })
  })

  test("is none without the key", function* ({ after, front, has, setTo }) {
    const { reports: _, ...quiet } = OFFICE
    yield* front.policy.replace(policyOf(quiet, "Europe/Berlin"))
    yield* setTo("2026-02-01T07:00:00Z")
    yield* after("1 hour")
    yield* has()
  })

  test("waits for a clock that was set back no longer than for any other", function* ({
    after,
    answers,
    clock,
    sent,
    setTo,
  }) {
    answers.push({ outcome: "deferred", error: "The mail server is down.", retryAfterSeconds: 3_600 })
    yield* setTo("2026-02-01T20:00:00Z")
    yield* after("10 seconds")
    assert.lengthOf(sent, 1)
    clock.setBack("12 hours")
    yield* after("10 seconds")
    assert.lengthOf(sent, 2)
    clock.setBack("1 day")
    yield* after("1 hour")
    assert.lengthOf(sent, 2)
  })
})
