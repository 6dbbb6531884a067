import type { CheckRecord, HistoryRecord, StoredHistoryRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { CheckRef, CheckName } from "@tocsin/core/kernel/model/CheckRef"
import type { AgentId, CheckId, EventId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import { last_result, type LastResult, type MemberCheck } from "@tocsin/core/kernel/model/LastResult"
import { type EvaluatedName, type KeyedRows, keyedShape, storedTables } from "@tocsin/core/lists/StoredTables"
import { DELETION } from "@tocsin/core/features/numbers/NumberPart"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { decoder, makeTable, makeKeyedTable } from "./makeTable.ts"
import type { Labels } from "@tocsin/contract/labels/Labels"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { DueRequest } from "@tocsin/core/kernel/ports/Storage"

export const makeCheckTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.check_state)
  const byRef = table.one("WHERE agent_id = ? AND check_id = ? AND registration_id = ?")
  return {
    find: (ref: CheckRef): CheckRecord | undefined => byRef(ref.agent_id, ref.check_id, ref.registration_id),
    /** The check of an agent's present registration. */
    ofAgent: table.one<[AgentId, CheckId]>(
      `WHERE agent_id = ?1 AND check_id = ?2
        AND registration_id = (SELECT registration_id FROM agent WHERE agent_id = ?1)`,
    ),
    write: table.write,
  }
}

export const makeHistoryTable = (connection: SqliteConnection) => {
  const table = makeTable(connection, storedTables.check_event)
  const known = connection.query<[CheckId]>(
    "SELECT check_id FROM check_event WHERE agent_id = ? AND event_id = ? AND registration_id = ?",
  )
  const newest = connection.query<[EventId]>(
    "SELECT event_id FROM check_event WHERE agent_id = ? ORDER BY event_id DESC LIMIT 1",
  )
  const anyKept = connection.query<[bigint]>(
    "SELECT 1 FROM check_event WHERE is_kept = 1 AND registration_id > '' LIMIT 1",
  )
  const replace = connection.query<never>(
    "UPDATE check_event SET is_kept = 0 WHERE registration_id = ? AND check_id = ? AND is_kept = 1",
  )
  const removeCheck = connection.query<never>(
    "DELETE FROM check_event WHERE registration_id = ? AND check_id = ?",
  )
  const removeSeries = connection.query<never>(
    "DELETE FROM number_series WHERE registration_id = ? AND check_id = ?",
  )
  const putDeletion = connection.query<never>(
    `INSERT INTO number_series (agent_id, registration_id, check_id, name, unit, newest)
    VALUES (?, ?, ?, '${DELETION}', '', ?)`,
  )
  return {
    /** Which of these events are in the history of a registration, with their checks. */
    known: (
      agentId: AgentId,
      registrationId: RegistrationId,
      eventIds: ReadonlyArray<EventId>,
    ): ReadonlyMap<EventId, CheckId> => {
      const found = new Map<EventId, CheckId>()
      // IDs of UUID version 7 ascend: of many, one look shows that most are new.
      const last = eventIds.length > 1 ? (newest.get(agentId)?.[0] ?? "") : undefined
      for (const eventId of eventIds) {
        if (last !== undefined && eventId > last) continue
        const row = known.get(agentId, eventId, registrationId)
        if (row !== undefined) found.set(eventId, row[0])
      }
      return found
    },
    /** Adds rows in order. The row that retention kept as the newest of its check loses that. */
    add: (rows: ReadonlyArray<HistoryRecord>): void => {
      if (rows.length > 0 && anyKept.get() !== undefined) {
        for (const { registration_id, check_id } of rows) replace.get(registration_id, check_id)
      }
      // SQLite numbers them, so the column is not written.
      table.insert(rows as ReadonlyArray<StoredHistoryRecord>)
    },
    removeCheck: ({ agent_id, check_id, received_at, registration_id }: CheckRecord): void => {
      removeCheck.get(registration_id, check_id)
      removeSeries.get(registration_id, check_id)
      putDeletion.get(agent_id, registration_id, check_id, Instant.toMillis(received_at))
    },
  }
}

export const makeLastResult = (connection: SqliteConnection) => {
  const decode = decoder(last_result)
  const find = connection.query<object>(
    `SELECT ?1, c.status, c.summary,
      (SELECT changed_at FROM incident_change WHERE incident_id = ?1 AND seq = ?2),
      (SELECT iif(observed_at = c.last_observed_at, duration_ms, NULL) FROM check_event INDEXED BY check_event_of_check
        WHERE registration_id = ?5 AND check_id = ?4 ORDER BY seq DESC LIMIT 1),
      (SELECT address FROM reported_alert WHERE agent_id = ?3 AND check_id = ?4 AND registration_id = ?5)
    FROM check_state AS c WHERE c.agent_id = ?3 AND c.check_id = ?4 AND c.registration_id = ?5`,
  )
  return (member: MemberCheck): LastResult | undefined => {
    const { agent_id, change_seq, check_id, incident_id, registration_id } = member
    const row = find.get(incident_id, change_seq, agent_id, check_id, registration_id)
    return row && decode(row)
  }
}

type Place = [
  now: Instant.Instant,
  next_evaluation_at: Instant.Instant,
  AgentId | "",
  CheckId | "",
  RegistrationId | "",
  limit: number,
]

/** Finds the rows of a table that are to be evaluated: see `Storage.dueRows`. */
export const makeDueRows = <N extends EvaluatedName>(connection: SqliteConnection, name: N) => {
  const due = makeTable(connection, keyedShape(name)).all<Place>(
    `WHERE next_evaluation_at IS NOT NULL AND next_evaluation_at <= ? AND (next_evaluation_at, agent_id, check_id, registration_id) > (?, ?, ?, ?)
    ORDER BY next_evaluation_at, agent_id, check_id, registration_id LIMIT ?`,
  )
  return ({ after, limit, now }: DueRequest<N>): ReadonlyArray<KeyedRows[N]> =>
    due(
      now,
      after?.next_evaluation_at ?? LONG_AGO,
      after?.agent_id ?? "",
      after?.check_id ?? "",
      after?.registration_id ?? "",
      limit,
    )
}

export const makeCheckLabelTable = (connection: SqliteConnection) => {
  const table = makeKeyedTable(connection, "check_label")
  const ofPresentAgent = table.one<[AgentId, CheckId]>(
    `WHERE agent_id = ? AND check_id = ?
      AND registration_id = (SELECT a.registration_id FROM agent AS a WHERE a.agent_id = check_label.agent_id)`,
  )
  return {
    ...table,
    /** The labels of a check of an agent that exists. */
    labelsOf: ({ agent_id, check_id }: CheckName): Labels | undefined =>
      ofPresentAgent(agent_id, check_id)?.labels,
  }
}

/** Before every time that a row has. */
const LONG_AGO = -(2n ** 63n) as Instant.Instant
