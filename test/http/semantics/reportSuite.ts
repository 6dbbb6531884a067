import { assert } from "@effect/vitest"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { addOperator, call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { acceptedAgent, event, heartbeat, push, type TestAgent } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"

const at = (time: string) => `2026-03-01T${time}.000Z`

interface Body {
  readonly groups: ReadonlyArray<object>
  readonly worst: ReadonlyArray<{ readonly check_id: string; readonly percent: number }>
  readonly incidents: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly late: ReadonlyArray<object>
}

const reportOf = Effect.fnUntraced(function* (query: Readonly<Record<string, string>>) {
  const { body, status, text } = yield* operate(
    "GET",
    `/ops/v1/report?${new URLSearchParams(query).toString()}`,
  )
  assert.strictEqual(status, 200, text)
  return body as Body
})

const turns = (agent: TestAgent, check_id: string, time: string, status: string) =>
  push(agent, event({ check_id, status, exit_code: status === "ok" ? 0 : 2, observed_at: at(time) }))

/** Two teams: a disk that failed for ten minutes and was acknowledged, a load that is critical, a memory that is ok. */
const arrange = Effect.gen(function* () {
  const { clock } = yield* Tocsin
  const web = yield* acceptedAgent("web-1")
  yield* heartbeat(web, { labels: { team: "shop" }, observed_at: at("12:00:01") })
  yield* operate("PATCH", "/ops/v1/checks/web-1/disk", { json: { title: "Disk of the shop" } })
  const db = yield* acceptedAgent("db-1")
  for (const [agent, check] of [
    [web, "disk"],
    [web, "memory"],
    [db, "load"],
  ] as const)
    yield* turns(agent, check, "12:00:00", "ok")
  clock.advance("10 minutes")
  yield* turns(web, "disk", "12:10:00", "critical")
  yield* operate("PATCH", "/ops/v1/checks/web-1/disk", { json: { title: "Disk of the shop" } })
  clock.advance("4 minutes")
  const { body } = yield* operate("GET", "/ops/v1/incidents?state=open")
  const id: string = Object(body).items[0].id
  const ann = yield* addOperator("ann", "respond")
  yield* call("PUT", `/ops/v1/incidents/${id}/acknowledgement`, { token: ann, json: {} })
  clock.advance("6 minutes")
  yield* turns(web, "disk", "12:20:00", "ok")
  clock.advance("20 minutes")
  yield* turns(db, "load", "12:40:00", "critical")
  clock.advance("21 minutes")
  return { id, web }
})

const HOUR = { from: at("12:00:00"), to: at("13:00:00") }

/** Reports of a span (docs/rules.md#reports). */
export const reportSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("a report sums up groups, the worst checks, and the incidents that were open", () =>
    Effect.gen(function* () {
      const { id } = yield* arrange
      const { groups, incidents, late, worst, ...others } = yield* reportOf({ ...HOUR, group: "team" })
      assert.deepStrictEqual(others, {})
      assert.deepStrictEqual(late, [])
      assert.deepStrictEqual(groups, [
        { group: "shop", checks: 2, percent: 91.666 },
        { group: null, checks: 1, percent: 66.666 },
      ])
      assert.deepStrictEqual(
        worst.map(({ check_id, percent }) => [check_id, percent]),
        [
          ["load", 66.666],
          ["disk", 83.333],
          ["memory", 100],
        ],
      )
      assert.deepStrictEqual(worst[1], {
        agent_id: "web-1",
        check_id: "disk",
        title: "Disk of the shop",
        percent: 83.333,
        seconds: { ok: 3_000, warning: 0, critical: 600, unknown: 0, late: 0, planned: 0, no_data: 0 },
      } as object)
      assert.deepStrictEqual(
        incidents.map((each) => [
          each["incident_key"],
          each["state"],
          each["duration_seconds"],
          each["acknowledged_by"],
          each["acknowledged_after_seconds"],
        ]),
        [
          ["db-1/load", "open", 1_260, null, null],
          ["web-1/disk", "resolved", 600, "ann", 240],
        ],
      )
      assert.deepInclude(incidents[1], { id, title: "Disk of the shop", severity: "critical" })
    }),
  )

  scenario("matchers choose checks and incidents; an incident outside of the span is not in it", () =>
    Effect.gen(function* () {
      yield* arrange
      const shop = yield* reportOf({ ...HOUR, match: "label:team = shop" })
      assert.deepStrictEqual(shop.groups, [{ group: null, checks: 2, percent: 91.666 }])
      assert.deepStrictEqual(
        shop.incidents.map((each) => each["incident_key"]),
        ["web-1/disk"],
      )
      const keysIn = (from: string, to: string) =>
        Effect.map(reportOf({ from: at(from), to: at(to) }), ({ incidents }) =>
          incidents.map((each) => each["incident_key"]),
        )
      assert.deepStrictEqual(yield* keysIn("12:00:00", "12:10:00"), [])
      assert.deepStrictEqual(yield* keysIn("12:19:59", "12:30:00"), ["web-1/disk"])
      assert.deepStrictEqual(yield* keysIn("12:21:00", "12:30:00"), [])
      assert.deepStrictEqual(yield* keysIn("12:50:00", "13:00:00"), ["db-1/load"])
    }),
  )

  scenario("a report needs a span of at most 400 days that has ended", () =>
    Effect.gen(function* () {
      const refused = Effect.fnUntraced(function* (query: Readonly<Record<string, string>>) {
        const path = `/ops/v1/report?${new URLSearchParams(query).toString()}`
        return expectError(yield* operate("GET", path), 400, "validation")
      })
      yield* refused({})
      yield* refused({ from: at("10:00:00") })
      assert.match(yield* refused({ from: at("10:00:00"), to: at("18:00:00") }), /future/)
      assert.match(yield* refused({ from: "2024-12-01T00:00:00Z", to: at("10:00:00") }), /400 days/)
      assert.match(yield* refused({ from: at("10:00:00"), to: at("11:00:00"), group: "a b" }), /group/)
      yield* refused({ from: at("10:00:00"), to: at("11:00:00"), match: "team" })
      const empty = yield* reportOf({ from: at("10:00:00"), to: at("11:00:00") })
      assert.deepStrictEqual(empty, { groups: [], worst: [], incidents: [], late: [] })
    }),
  )
}
