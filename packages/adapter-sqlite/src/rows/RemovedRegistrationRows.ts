import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

type Registration = readonly [registration_id: string, agent_id: string]

/** Table `removed_registration`: deleted agents whose checks and history are still to be removed. */
export const makeRemovedRegistrationRows = (connection: SqliteConnection) => {
  const add = connection.query(
    "INSERT INTO removed_registration (registration_id, agent_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
  )
  const first = connection.query<Registration>(
    "SELECT registration_id, agent_id FROM removed_registration ORDER BY registration_id LIMIT 1",
  )
  const removeChecks = connection.query(
    `DELETE FROM check_state WHERE (agent_id, check_id, registration_id) IN (
      SELECT agent_id, check_id, registration_id FROM check_state WHERE agent_id = ? AND registration_id = ? LIMIT ?
    )`,
  )
  const removeHistory = connection.query(
    `DELETE FROM check_event WHERE seq IN (
      SELECT seq FROM check_event WHERE registration_id = ? ORDER BY seq LIMIT ?
    )`,
  )
  const remove = connection.query("DELETE FROM removed_registration WHERE registration_id = ?")
  return {
    add: (agent: AgentRecord): void => {
      add.run(agent.registration_id, agent.agent_id)
    },
    /** Removes at most `limit` checks and history rows of deleted agents. Returns how many. */
    purge: (limit: number): number => {
      let left = limit
      while (left > 0) {
        const registration = first.get()
        if (registration === undefined) break
        const [registrationId, agentId] = registration
        left -= Number(removeChecks.run(agentId, registrationId, left).changes)
        if (left > 0) left -= Number(removeHistory.run(registrationId, left).changes)
        // With nothing left of the limit there may be more rows; the next piece finds out.
        if (left > 0) remove.run(registrationId)
      }
      return limit - left
    },
  }
}
