import * as Instant from "@tocsin/contract/formats/Instant"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { enrollment, life, SIZE } from "./Scenario.ts"
import { driveService } from "./DrivenService.ts"

const arbitrary = { runs: propertyRuns(100), size: SIZE, maxShrinks: 1_000 }
const limit = 500

describe("the summary", () => {
  it.effect.prop(
    "equals counting the lists",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const driven = yield* driveService()
        yield* driven.play([...enrollment, ...steps])
        const queries = driven.queries()
        const agents = (yield* queries.agents({ limit })).items.filter(
          (agent) => agent.admission_state === "accepted",
        )
        const checks = (yield* queries.checks({ limit })).items
        const incidents = (yield* queries.incidents({ limit, sort: "status", direction: "desc" })).items
        const online = agents.filter((agent) => agent.status === "alive").length
        const withStatus = (status: string) => checks.filter((check) => check.status === status).length
        assert.deepStrictEqual(yield* queries.summary, {
          agents_online: online,
          agents_offline: agents.length - online,
          checks_ok: withStatus("ok"),
          checks_warning: withStatus("warning"),
          checks_critical: withStatus("critical"),
          checks_unknown: withStatus("unknown"),
          open_incidents: incidents.filter((incident) => incident.state === "open").length,
          generated_at: yield* Instant.now,
        })
      }),
    { arbitrary },
  )

  it.effect.prop(
    "is based on the counts of checks in every agent's row",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const driven = yield* driveService()
        for (const { after } of yield* driven.play([...enrollment, ...steps])) {
          for (const agent of after.agents.values()) {
            const checks = Array.from(after.checks.values()).filter(
              (check) => check.agent_id === agent.agent_id,
            )
            const count = (status: string) => checks.filter((check) => check.status === status).length
            assert.deepStrictEqual(
              [agent.checks_ok, agent.checks_warning, agent.checks_critical, agent.checks_unknown],
              [count("ok"), count("warning"), count("critical"), count("unknown")],
            )
          }
        }
      }),
    { arbitrary },
  )
})
