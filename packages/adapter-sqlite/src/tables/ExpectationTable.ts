import type { CheckName } from "@tocsin/core/model/CheckRecord"
import type { AgentId, CheckId, RegistrationId } from "@tocsin/contract/Identifiers"
import type { Labels } from "@tocsin/contract/Labels"
import type { Instant } from "@tocsin/contract/Instant"
import type { ExpectationRecord } from "@tocsin/core/model/ExpectationRecord"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeKeyedTable } from "./makeKeyedTable.ts"

type Place = [
  now: Instant,
  next_evaluation_at: Instant,
  AgentId | "",
  CheckId | "",
  RegistrationId | "",
  limit: number,
]

/** Table `expectation`: checks that must report. */
export const makeExpectationTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "expectation")
  const ofPresentAgent = table.one<[AgentId, CheckId]>(
    `WHERE agent_id = ? AND check_id = ?
      AND registration_id = (SELECT a.registration_id FROM agent AS a WHERE a.agent_id = expectation.agent_id)`,
  )
  const due = table.all<Place>(
    `WHERE next_evaluation_at IS NOT NULL AND next_evaluation_at <= ? AND (next_evaluation_at, agent_id, check_id, registration_id) > (?, ?, ?, ?)
    ORDER BY next_evaluation_at, agent_id, check_id, registration_id LIMIT ?`,
  )
  return {
    ...table,
    /** The labels of a check of an agent that exists. */
    labelsOf: ({ agent_id, check_id }: CheckName): Labels | undefined =>
      ofPresentAgent(agent_id, check_id)?.labels,
    /** Those to be evaluated by now, longest due first, from the one after `after`. */
    due: (now: Instant, after: ExpectationRecord | undefined, limit: number) =>
      due(
        now,
        after?.next_evaluation_at ?? LONG_AGO,
        after?.agent_id ?? "",
        after?.check_id ?? "",
        after?.registration_id ?? "",
        limit,
      ),
  }
}

/** Before every time that a row has. */
const LONG_AGO = -(2n ** 63n) as Instant
