import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

/** Table `removed_registration`: deleted agents whose checks and history are still to be removed. */
export const makeRemovedRegistrationRows = (connection: SqliteConnection) => {
  const add = connection.query(
    "INSERT INTO removed_registration (registration_id, agent_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
  )
  return {
    add: (agent: AgentRecord): void => {
      add.run(agent.registration_id, agent.agent_id)
    },
  }
}
