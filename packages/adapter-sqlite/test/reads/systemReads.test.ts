import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/Instant"
import { makePass, QUIET_KEPT } from "@tocsin/core/liveness/StaleAgentScan"
import { agentRecord, incidentIdOf } from "@tocsin/testing/records"
import { start } from "@tocsin/testing/samples"
import { Effect } from "effect"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate } from "../../src/migrations/migrate.ts"
import { systemReads } from "../../src/reads/systemReads.ts"
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

describe("a pass over agents, in steps of 2,000", () => {
  it.effect.each([0, 1, 2_000, 2_001, 4_500])("finds every quiet one of %i", (count) =>
    Effect.gen(function* () {
      const connection = SqliteConnection.open(IN_MEMORY)
      migrate(connection, start)
      const { agents } = makeTables(connection)
      const all = agentsOf(count)
      connection.transaction(() => {
        for (const agent of all) agents.write({ before: undefined, after: agent })
      })
      const accepted = all.filter(({ admission_state }) => admission_state === "accepted")
      const dead = accepted.filter(({ heartbeat_incident_id }) => heartbeat_incident_id !== undefined)
      const deadSeenAt = dead.map(({ last_seen_at }) => last_seen_at).toSorted((a, b) => Number(b - a))[0]
      for (const bound of [10, 2, 1].map((part) => after(Math.floor(count / part)))) {
        const quiet = accepted.filter((agent) => !dead.includes(agent) && agent.last_seen_at <= bound)
        const found = yield* systemReads(connection, Effect.sync).pass(bound)
        const byAcceptance = quiet.map(({ agent_id, last_seen_at, reachable_from }) => ({
          agent_id,
          quiet_since: Instant.max(last_seen_at, reachable_from ?? last_seen_at),
        }))
        assert.deepStrictEqual(found, makePass(byAcceptance, { bound, deadSeenAt }))
        assert.lengthOf(found.quiet, Math.min(quiet.length, QUIET_KEPT))
      }
      connection.close()
    }),
  )
})
