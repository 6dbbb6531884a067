import * as Instant from "@tocsin/contract/formats/Instant"
import { assert, describe, it } from "@effect/vitest"
import type { ReplicaRecord } from "@tocsin/core/heart/model/ReplicaRecord"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import {
  deadLetters,
  deliveryFindings,
  waitingForNone,
} from "@tocsin/server/commands/doctor/deliveryFindings"
import { Duration, Effect, Layer } from "effect"
import { orderColumns } from "@tocsin/core/lists/ListDefinitions"

const now = Instant.fromMillis(Date.UTC(2026, 0, 31, 8, 30))
const ago = (minutes: number) => ({
  notifier: "webhook" as const,
  at: Instant.minus(now, Duration.minutes(minutes)),
})

describe("the doctor", () => {
  it("reports late notifications, and the dead letters of a day", () => {
    const found = deliveryFindings(
      {
        failing: [],
        waiting: new Map(),
        undelivered: [ago(16), ago(40)],
        givenUp: [ago(23 * 60), ago(30 * 60)],
      },
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
          "a notification for webhook failed 23h ago: fix the error that tocsin outbox --state failed shows, then run tocsin outbox replay with its ID",
      },
    ])
  })

  it("accepts recent notifications, and older dead letters", () => {
    const found = deliveryFindings(
      { failing: [], waiting: new Map(), undelivered: [ago(14)], givenUp: [ago(26 * 60)] },
      now,
    )
    assert.deepStrictEqual(
      found.map(({ level }) => level),
      ["ok"],
    )
  })

  it.effect.each([
    ["a firing", { event_type: "firing" }, {}, 0],
    ["a resolved", { event_type: "resolved" }, {}, 1],
    ["a firing before a mail that bounced", { event_type: "firing" }, { last_error: "bounced: 5.1.1" }, 1],
    ["a firing before a mail with a warning", { event_type: "firing" }, { last_error: "slow" }, 0],
  ] as const)("has %s among the dead letters unless a later firing was taken", ([, failed, sent, count]) =>
    Effect.gen(function* () {
      const row = { incident_id: "i", receiver: "webhook", notifier: "webhook" }
      const rows = {
        failed: { ...row, ...failed, updated_at: ago(30).at },
        sent: { ...row, ...sent, event_type: "firing", updated_at: ago(10).at },
      }
      const storage = Layer.mock(Storage, {
        orderOf: orderColumns,
        // The doctor asks for one list, of one state, and reads these columns alone.
        page: ({ filter }) =>
          Effect.succeed([rows["state" in filter && filter.state === "sent" ? "sent" : "failed"]] as never),
      })
      const found = Effect.flatMap(Storage, (read) => deadLetters(read, new Map([["webhook", true]]), now))
      assert.lengthOf(yield* Effect.provide(found, storage), count)
    }),
  )

  it("does not call delivery well while no server can use a receiver", () => {
    const found = (...waiting: ReadonlyArray<readonly [string, { count: number; reason?: string }]>) =>
      deliveryFindings({ failing: [], undelivered: [], givenUp: [], waiting: new Map(waiting) }, now).map(
        ({ level, message }) => `${level} ${message}`,
      )
    assert.deepStrictEqual(found(["chat", { count: 2 }]), [
      "attention chat has 2 notifications waiting: give a server its secrets, or the module that gives it",
    ])
    const reason = "the operator ann does not exist: create it, or name another one"
    assert.deepStrictEqual(found(["browser", { count: 1, reason }]), [
      `attention browser has 1 notification waiting: ${reason}`,
    ])
    assert.deepStrictEqual(found(["browser", { count: 0, reason }]), [
      `attention browser has 0 notifications waiting: ${reason}`,
    ])
    assert.match(found().join(), /^ok /)
  })

  it.effect("names each reason why no server can use a receiver", () =>
    Effect.gen(function* () {
      const serverThat = (unavailable: string): ReplicaRecord => ({
        id: unavailable,
        version: "1.0.0",
        policy_hash: "",
        receivers: [{ name: "pager", unavailable }],
        probes: false,
        agent_sha256: undefined,
        known_names: undefined,
        started_at: now,
        seen_at: now,
        ended_at: undefined,
      })
      const live = ["set PAGER_KEY", "the file key is not there", "set PAGER_KEY"].map(serverThat)
      const waiting = yield* waitingForNone(yield* Storage, live, new Set())
      assert.deepStrictEqual(Array.from(waiting), [
        ["pager", { count: 0, reason: "set PAGER_KEY; the file key is not there" }],
      ])
    }).pipe(Effect.provide(Layer.mock(Storage, { orderOf: orderColumns, page: () => Effect.succeed([]) }))),
  )
})
