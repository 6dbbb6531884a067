import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { IncidentTimeline, TimelineLimits } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import {
  incidentLogTable,
  incidentChangeTable,
  findIncidentLog,
  findIncidentChanges,
  incidentTable,
  findIncidents,
  decodeLabelled,
  findMembersOfIncident,
} from "../tables/IncidentTable.ts"
import { outboxTable, findOutboxOfIncident } from "../tables/OutboxTable.ts"
import { read } from "../Database.ts"

/** All parts of a timeline are read in one snapshot. */
const BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

/** Reads one incident with its members, changes, acts and notifications; see `Storage.incident`. */
export const readIncidentTimeline = Effect.fnUntraced(
  function* (
    sql: SqlClient.SqlClient,
    id: IncidentId,
    limits: TimelineLimits,
  ): Effect.fn.Return<IncidentTimeline | undefined, SqlError.SqlError> {
    const [incident] = (yield* read(sql, findIncidents, [[id]])).map(incidentTable.decode)
    if (incident === undefined) return undefined
    const labelled = (yield* read(sql, findMembersOfIncident, [id, limits.members])).map(decodeLabelled)
    const changes = (yield* read(sql, findIncidentChanges, [id, limits.changes])).map(
      incidentChangeTable.decode,
    )
    const outbox = (yield* read(sql, findOutboxOfIncident, [id, limits.outbox])).map(outboxTable.decode)
    const log = (yield* read(sql, findIncidentLog, [id, limits.log])).map(incidentLogTable.decode)
    const members = labelled.map(({ member }) => member)
    return { incident, members, labels: labelled.map(({ labels }) => labels), changes, log, outbox }
  },
  (timeline, sql) =>
    timeline.pipe(sql.withTransaction, Effect.provideService(SqlClient.BeginTransaction, BEGIN)),
)
