import type { Instant } from "@tocsin/contract/formats/Instant"
import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { IncidentRecord, IncidentRef } from "@tocsin/core/heart/model/IncidentRecord"
import { FIRST_CHANGES, type TimelineCut } from "@tocsin/core/kernel/model/timelineCut"
import { storedTables } from "@tocsin/core/lists/StoredTables"
import type { ParentSearch } from "@tocsin/core/kernel/unitOfWork/Search"
import type { Change } from "@tocsin/core/kernel/unitOfWork/Table"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { makeKeyedTable, makeTable } from "./makeTable.ts"

/** Counts open incidents again, for writers of incidents that do not use this table. */
export const RECOUNT_OPEN_INCIDENTS =
  "UPDATE system_total SET incidents_open = (SELECT count(*) FROM incident WHERE state = 'open')"

const openCount = (incident: IncidentRecord | undefined): number => (incident?.state === "open" ? 1 : 0)

/** Table `incident`, and the number of open ones in `system_total`. */
export const makeIncidentTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.incident)
  const findOpen = table.one("WHERE kind = ? AND incident_key = ? AND state = 'open'")
  const due = connection.query<[IncidentId]>(
    `SELECT id FROM incident INDEXED BY incident_by_next_evaluation
    WHERE next_evaluation_at IS NOT NULL AND state = 'open' AND next_evaluation_at <= ? ORDER BY next_evaluation_at, id LIMIT ?`,
  )
  const openings = connection.query<[Instant]>(
    `SELECT opened_at FROM incident INDEXED BY incident_by_key
    WHERE incident_key = ? AND kind = ? AND opened_at > ? AND opened_at <= ? ORDER BY opened_at DESC LIMIT ?`,
  )
  // SQLite keeps such a list of IDs in their order, and reads the incidents in it: none is sorted.
  const parents = table.all<ReadonlyArray<string | number>>(
    `WHERE state = 'open' AND id IN (
      SELECT incident_id FROM incident_member INDEXED BY incident_member_of_agent
      WHERE left_at IS NULL AND agent_id IN (SELECT value FROM json_each(?))
      UNION ALL SELECT incident_id FROM incident_member INDEXED BY incident_member_of_check
      WHERE left_at IS NULL AND check_id IN (SELECT value FROM json_each(?))
      UNION ALL SELECT id FROM incident INDEXED BY incident_by_key
      WHERE incident_key IN (SELECT value FROM json_each(?)) AND state = 'open'
      UNION ALL SELECT m.incident_id FROM agent AS a
      CROSS JOIN incident_member AS m INDEXED BY incident_member_of_agent ON m.agent_id = a.agent_id
      WHERE m.left_at IS NULL AND a.hostname IN (SELECT value FROM json_each(?))
      UNION ALL SELECT m.incident_id FROM json_each(?) AS wanted
      CROSS JOIN label AS l ON l.name = wanted.value ->> '$.labels[0][0]' AND l.value = wanted.value ->> '$.labels[0][1]'
      CROSS JOIN incident_member AS m INDEXED BY incident_member_of_agent ON m.agent_id = l.agent_id
      WHERE m.left_at IS NULL AND l.check_id IN (m.check_id, '')
        AND coalesce(wanted.value ->> '$.check_id', m.check_id) = m.check_id
        AND NOT EXISTS (
          SELECT 1 FROM json_each(wanted.value, '$.labels') AS other WHERE NOT EXISTS (
            SELECT 1 FROM label AS o WHERE o.name = other.value ->> 0 AND o.value = other.value ->> 1
              AND o.agent_id = m.agent_id AND o.check_id IN (m.check_id, '')
          )
        )
      UNION ALL SELECT id FROM incident INDEXED BY incident_open WHERE state = 'open' AND ?
    ) ORDER BY id LIMIT ?`,
  )
  const addOpenIncidents = connection.query<never>(
    "UPDATE system_total SET incidents_open = incidents_open + ? WHERE writer = 0",
  )
  return {
    find: table.one<[IncidentId]>("WHERE id = ?"),
    /** The incidents whose next evaluation is due, longest due first. */
    due: (now: Instant, limit: number): ReadonlyArray<IncidentId> => due.all(now, limit).map(([id]) => id),
    /** When the incidents of a key were opened, the latest first. */
    openings: (
      { incident_key, kind }: IncidentRef,
      { limit, since, until }: { readonly since: Instant; readonly until: Instant; readonly limit: number },
    ): ReadonlyArray<Instant> => openings.all(incident_key, kind, since, until, limit).map(([at]) => at),
    parents: (search: ParentSearch): ReadonlyArray<IncidentRecord> => {
      const { agents, checks, hostnames, isAll, keys, limit } = search
      const labelled = search.labelled.map(({ check_id, labels }) => ({
        check_id,
        labels: Object.entries(labels),
      }))
      const lists = [agents, checks, keys, hostnames, labelled].map((list) => JSON.stringify(list))
      return parents(...lists, Number(isAll), limit)
    },
    findOpen: (ref: IncidentRef): IncidentRecord | undefined => findOpen(ref.kind, ref.incident_key),
    /** Writes resolved incidents first: one of the same key may have opened. */
    write: (changes: ReadonlyArray<Change<IncidentRecord>>): void => {
      table.writeAll(changes.filter(({ after }) => after?.state === "resolved"))
      table.writeAll(changes.filter(({ after }) => after?.state === "open"))
      let opened = 0
      for (const { before, after } of changes) opened += openCount(after) - openCount(before)
      if (opened !== 0) addOpenIncidents.get(opened)
    },
  }
}

export const makeMemberTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "incident_member", "INDEXED BY incident_member_of_agent")
  return {
    ...table,
    /** The first present members in the order of `compareMembers`. */
    worst: table.all<[IncidentId, limit: number]>(
      "WHERE incident_id = ? AND is_present = 1 ORDER BY severity_rank DESC, change_seq DESC LIMIT ?",
    ),
    /** The first loud present members in that order. */
    loud: table.all<[IncidentId, limit: number]>(
      `WHERE incident_id = ? AND is_present = 1 AND is_loud = 1
      ORDER BY severity_rank DESC, change_seq DESC LIMIT ?`,
    ),
    /** The first members, present ones before past ones, both in that order. */
    ranked: table.all<[IncidentId, limit: number]>(
      "WHERE incident_id = ? ORDER BY is_present DESC, severity_rank DESC, change_seq DESC LIMIT ?",
    ),
  }
}

export const makeIncidentLogTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.incident_log)
  return {
    add: table.insert,
    latest: table.all<[IncidentId, limit: number]>("WHERE incident_id = ? ORDER BY seq DESC LIMIT ?"),
  }
}

export const makeIncidentChangeTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.incident_change)
  const cut = connection.query<never>(
    `DELETE FROM incident_change WHERE incident_id = ? AND seq > ${FIRST_CHANGES} AND seq <= ?`,
  )
  return {
    add: table.insert,
    cut: ({ incident_id, up_to }: TimelineCut): void => {
      cut.get(incident_id, up_to)
    },
    latest: table.all<[IncidentId, limit: number]>("WHERE incident_id = ? ORDER BY seq DESC LIMIT ?"),
  }
}
