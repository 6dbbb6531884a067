import { storedTables } from "@tocsin/core/model/StoredTables"
import { makeTable } from "./makeTable.ts"

/** The current state of checks. The lock of their agent guards them. */
export const checkTable = makeTable(storedTables.check_state, { alias: "c" })

/** Reads checks of registrations, with their versions. */
export const findChecks = `SELECT ${checkTable.columns}, c.xmin AS version
  FROM json_to_recordset($1) AS wanted (agent_id text, registration_id uuid, ids text[])
  JOIN check_state AS c
    ON c.agent_id = wanted.agent_id AND c.registration_id = wanted.registration_id
   AND c.check_id = ANY(wanted.ids)`

/** Reads one check of an agent's present registration. */
export const findCheck = `SELECT ${checkTable.columns} FROM check_state AS c
  JOIN agent AS a ON a.agent_id = c.agent_id AND a.registration_id = c.registration_id
  WHERE c.agent_id = $1 AND c.check_id = $2`
