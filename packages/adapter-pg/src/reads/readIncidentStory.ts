import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { IncidentStory, StoryLimits } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import {
  incidentActTable,
  incidentChangeTable,
  findIncidentActs,
  findIncidentChanges,
  incidentTable,
  findIncidents,
  decodeLabelled,
  findMembersOfIncident,
} from "../tables/IncidentTable.ts"
import { outboxTable, findOutboxOfIncident } from "../tables/OutboxTable.ts"
import { read } from "./read.ts"

/** All parts of a story are read in one snapshot. */
const BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

/** Reads one incident with its members, changes, acts and notifications; see `Storage.incident`. */
export const readIncidentStory = Effect.fnUntraced(
  function* (
    sql: SqlClient.SqlClient,
    id: IncidentId,
    limits: StoryLimits,
  ): Effect.fn.Return<IncidentStory | undefined, SqlError.SqlError> {
    const [incident] = (yield* read(sql, findIncidents, [[id]])).map(incidentTable.decode)
    if (incident === undefined) return undefined
    const labelled = (yield* read(sql, findMembersOfIncident, [id, limits.members])).map(decodeLabelled)
    const changes = (yield* read(sql, findIncidentChanges, [id, limits.changes])).map(
      incidentChangeTable.decode,
    )
    const outbox = (yield* read(sql, findOutboxOfIncident, [id, limits.outbox])).map(outboxTable.decode)
    const acts = (yield* read(sql, findIncidentActs, [id, limits.acts])).map(incidentActTable.decode)
    const members = labelled.map(({ member }) => member)
    return { incident, members, labels: labelled.map(({ labels }) => labels), changes, acts, outbox }
  },
  (story, sql) => story.pipe(sql.withTransaction, Effect.provideService(SqlClient.BeginTransaction, BEGIN)),
)
