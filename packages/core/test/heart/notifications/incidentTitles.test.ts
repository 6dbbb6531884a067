import { assert, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { agentRecord } from "@tocsin/testing/records"
import { Effect } from "effect"
import { HEARTBEAT } from "../../../src/heart/model/MemberRecord.ts"
import { openerTitles } from "../../../src/heart/notifications/incidentTitles.ts"

it.effect("titles of silent agents read each unknown agent once, and no known one", () =>
  Effect.gen(function* () {
    const [known, other] = [
      agentRecord("a", { labels: { title: "Server a" } }),
      agentRecord("b", { labels: { title: "Server b" } }),
    ]
    const asked: Array<string> = []
    const storage = {
      agent: (id: AgentId) => Effect.sync(() => (asked.push(id), other)),
      rows: () => Effect.succeed([]),
    }
    const opened = ["a", "b", "b"].map((id, place) => ({
      id: String(place),
      opener_agent_id: AgentId.make(id),
      opener_check_id: HEARTBEAT,
    }))
    const titles = yield* openerTitles(storage, opened, [known])
    assert.deepStrictEqual(Array.from(titles.values()), ["Server a", "Server b", "Server b"])
    assert.deepStrictEqual(asked, ["b"])
  }),
)
