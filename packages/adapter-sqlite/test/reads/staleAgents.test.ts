import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { isSilent } from "@tocsin/core/heart/model/AgentRecord"
import { agentRecord, incidentIdOf } from "@tocsin/testing/records"
import { start } from "@tocsin/testing/samples"
import { Effect } from "effect"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate } from "../../src/migrations/migrate.ts"
import { makeStaleAgents } from "../../src/reads/staleAgents.ts"
import { makeTables } from "../../src/tables/makeTables.ts"

const after = (micros: number): Instant.Instant => Instant.fromMicros(start + BigInt(micros))

/** Whether an agent is the last of a step, or the first. */
const isAtBorder = (n: number): boolean => (n + 1) % 2_000 < 2

/** Agents of which some are pending and some dead, each last seen at another moment; first those at borders. */
const agentsOf = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    agentRecord(`agent-${String(n).padStart(4, "0")}`, {
      last_seen_at: after(isAtBorder(n) ? -n - 1 : (n * 7_919) % count),
      reachable_from: n % 7 === 0 ? after(count + n) : undefined,
      admission_state: n % 89 === 5 ? "pending" : "accepted",
      heartbeat_incident_id: n % 97 === 7 ? incidentIdOf("dead") : undefined,
    }),
  )

describe("a scan for silent agents, in steps of 2,000", () => {
  it.effect.each([0, 1, 2_000, 2_001, 4_500])("finds those among %i", (count) =>
    Effect.gen(function* () {
      const connection = SqliteConnection.open(IN_MEMORY)
      migrate(connection, start)
      const { agents } = makeTables(connection)
      const all = agentsOf(count)
      connection.transaction(() => {
        for (const agent of all) agents.write({ before: undefined, after: agent })
      })
      const staleAgents = makeStaleAgents(connection, Effect.sync)
      for (const since of [10, 2, 1].map((part) => after(Math.floor(count / part)))) {
        const silent = all.filter((agent) => isSilent(agent, since)).map(({ agent_id }) => agent_id)
        for (const limit of [1, 500, count + 1])
          assert.deepStrictEqual(yield* staleAgents(since, limit), silent.slice(0, limit))
      }
      connection.close()
    }),
  )
})
