import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { enroll, report } from "../processes/Agent.ts"
import { outboxOf } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { jsonOf, serverAt, tocsin } from "./tocsin.ts"

describe("tocsin outbox --shadow, beside a server", () => {
  it.live("counts what shadow receivers would have been sent", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const place = { cwd, environment: { SERVICE_POLICY_FILE: join(cwd, "policy.yaml") } }
      writeFileSync(
        join(cwd, "policy.yaml"),
        "receivers: { log: { kind: debug }, trial: { kind: debug, shadow: true } }",
      )
      const server = yield* startServer(serverAt(place))
      const agent = yield* enroll(server, "web-1")
      yield* report(
        server,
        agent,
        { check_id: "disk", status: "critical" },
        { check_id: "cpu", status: "warning" },
      )
      const states = yield* until(
        "all notifications to end",
        Effect.map(outboxOf(server), (items) => {
          const ended = items.filter(({ state }) => state === "sent" || state === "discarded")
          return ended.length === 4 && ended.map(({ state }) => state)
        }),
      )
      assert.deepStrictEqual(states.toSorted(), ["discarded", "discarded", "sent", "sent"])
      assert.deepStrictEqual(yield* jsonOf(place, "outbox", "--shadow"), {
        items: [{ receiver: "trial", event_type: "firing", cause: "opened", count: 2 }],
        has_more: false,
      })
      const table = yield* tocsin(place, "outbox", "--shadow")
      assert.strictEqual(table.stdout, "RECEIVER  EVENT   CAUSE   COUNT\ntrial     firing  opened      2\n")
    }),
  )
})
