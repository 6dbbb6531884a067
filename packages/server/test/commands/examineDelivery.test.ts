import * as Instant from "@tocsin/contract/Instant"
import { assert, describe, it } from "@effect/vitest"
import { deliveryFindings } from "@tocsin/server/commands/doctor/examineNotifiers"
import { Duration } from "effect"

const now = Instant.fromMillis(Date.UTC(2026, 0, 31, 8, 30))
const ago = (minutes: number) => ({
  notifier: "webhook" as const,
  at: Instant.minus(now, Duration.minutes(minutes)),
})

describe("the doctor", () => {
  it("reports late notifications, and the dead letters of a day", () => {
    const found = deliveryFindings(
      { failing: [], unusable: [], undelivered: [ago(16), ago(40)], givenUp: [ago(23 * 60), ago(30 * 60)] },
      now,
    )
    assert.deepStrictEqual(found, [
      {
        check: "delivery",
        level: "attention",
        message: "a notification for webhook of 40m ago is not delivered: see tocsin outbox --state retry",
      },
      {
        check: "delivery",
        level: "attention",
        message:
          "a notification for webhook failed 23h ago: fix the error that tocsin outbox --state failed shows, then run tocsin outbox replay --all",
      },
    ])
  })

  it("accepts recent notifications, and older dead letters", () => {
    const found = deliveryFindings(
      { failing: [], unusable: [], undelivered: [ago(14)], givenUp: [ago(26 * 60)] },
      now,
    )
    assert.deepStrictEqual(
      found.map(({ level }) => level),
      ["ok"],
    )
  })

  it("does not call delivery well while no server can use a receiver", () => {
    const of = (receiver: string, byNone: boolean) => ({ receiver, byNone, reason: "no secret", replicas: 1 })
    const found = (...unusable: ReadonlyArray<ReturnType<typeof of>>) =>
      deliveryFindings({ failing: [], undelivered: [], givenUp: [], unusable }, now).map(
        ({ level, message }) => `${level} ${message}`,
      )
    const waiting = "attention notifications for chat wait: give a server its secrets"
    assert.deepStrictEqual(found(of("chat", true), of("chat", true), of("pager", false)), [waiting])
    assert.match(found(of("pager", false)).join(), /^ok /)
  })
})
