import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect } from "effect"
import { enroll, report } from "../processes/Agent.ts"
import { incidentsOf, outboxOf } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { jsonOf, serverAt, tocsin } from "./tocsin.ts"

interface Items {
  readonly items: ReadonlyArray<Readonly<Record<string, unknown>>>
}

describe("commands on incidents, beside a server", () => {
  it.live("acknowledge, note and withdraw, and release what is held", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      const server = yield* startServer(serverAt(place))
      const agent = yield* enroll(server, "web-1")
      const db = { incident_key: "db", status: "critical" as const }
      const silent = { ...db, check_id: "disk", notifications_enabled: false }
      yield* report(server, agent, silent)
      const id = (yield* incidentsOf(server))[0]?.id ?? assert.fail("no incident is open")

      const acked = yield* jsonOf(place, "incidents", "ack", id, "--for", "2h", "--note", "on it")
      assert.deepInclude(acked, { note: "on it", severity: "critical" })
      assert.match(JSON.stringify(acked), /"by":"cli:\w+"/)
      assert.strictEqual((yield* tocsin(place, "incidents", "note", id, "disk ordered")).code, 0)
      const another = yield* tocsin(place, "incidents", "ack", id, "--severity", "warning")
      assert.strictEqual(another.code, EXIT_CODES.refused.code)
      const both = yield* tocsin(place, "incidents", "ack", id, "--for", "8d")
      assert.strictEqual(both.code, EXIT_CODES.usage.code)

      const lately = (yield* jsonOf(place, "incidents", "--since", "1h")) as Items
      assert.deepStrictEqual(
        lately.items.map((one) => one["id"]),
        [id],
      )
      const earlier = (yield* jsonOf(place, "incidents", "--since", "2026-01-31", "--until", "1h")) as Items
      assert.deepStrictEqual(earlier.items, [])
      const acts = (yield* jsonOf(place, "audit", "--from", "1h")) as Items
      assert.isAbove(acts.items.length, 0)

      yield* report(server, agent, { ...db, check_id: "cpu" })
      const held = (yield* jsonOf(place, "outbox", "--held")) as Items
      assert.deepInclude(held.items[0], { held_by: ["ack"], state: "pending" })
      const scenario = yield* tocsin(place, "incidents", "show", id)
      assert.match(scenario.stdout, /\nacknowledged +by cli:\w+ until \S+\nheld_by +ack\n/)
      assert.match(scenario.stdout, /\nnext +debug: opened, held by ack until \S+\n/)
      assert.match(scenario.stdout, /noted +cli:\w+ +disk ordered\n/)
      assert.match(scenario.stdout, /acknowledged +cli:\w+ +\S+ +on it\n/)
      assert.match(scenario.stdout, / debug +debug +firing +pending +0 +\S+ +held by ack/)
      const { stdout: traced } = yield* tocsin(place, "incidents", "show", id, "--trace")
      assert.match(
        traced,
        /^\S+Z +event +web-1\/disk: open the incident as critical\n +because .+#incidents\)\n/,
      )
      assert.match(
        traced,
        /\n\S+Z +next +debug: send a firing once nothing holds it\n +because .+; held by ack until/,
      )
      const trace = yield* jsonOf(place, "incidents", "show", id, "--trace")
      assert.deepInclude(trace, { incident_id: id, left_out: 0 })

      const item = String(held.items[0]?.["id"])
      assert.deepStrictEqual(yield* jsonOf(place, "outbox", "release", item), { count: 1 })
      yield* until(
        "the released notification is sent",
        Effect.map(outboxOf(server), (items) => items.every(({ state }) => state === "sent")),
      )
      const notified = yield* tocsin(place, "incidents", "show", id)
      assert.match(notified.stdout, /\nnotified +debug: \S+, opened, critical\n/)
      const again = yield* tocsin(place, "outbox", "release", item)
      assert.strictEqual(again.code, EXIT_CODES.refused.code)
      assert.deepStrictEqual(yield* jsonOf(place, "incidents", "unack", id), { count: 1 })
      assert.include((yield* tocsin(place, "incidents", "unack", id)).stdout, "was not acknowledged")
      const nothing = "01900000-0000-7000-8000-000000000001"
      assert.strictEqual(
        (yield* tocsin(place, "incidents", "note", nothing, "a")).code,
        EXIT_CODES.not_found.code,
      )
    }),
  )
})
