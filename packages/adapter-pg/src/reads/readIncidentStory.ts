import type { IncidentId } from "@tocsin/core/contract/Identifiers"
import type { IncidentStory, StoryLimits } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import { decodeIncidentChange, findIncidentChanges } from "../tables/IncidentChangeTable.ts"
import { decodeIncident, findIncidents } from "../tables/IncidentTable.ts"
import { decodeMember, findMembersOfIncident } from "../tables/MemberTable.ts"
import { decodeOutbox, findOutboxOfIncident } from "../tables/OutboxTable.ts"
import { read } from "./read.ts"

/** All parts of a story are of one moment. */
const BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

/** Reads one incident with all that belongs to it; see `Storage.incident`. */
export const readIncidentStory = (
  sql: SqlClient.SqlClient,
  id: IncidentId,
  limits: StoryLimits,
): Effect.Effect<IncidentStory | undefined, SqlError.SqlError> =>
  Effect.gen(function* () {
    const [incident] = (yield* read(sql, findIncidents, [[id]])).map(decodeIncident)
    if (incident === undefined) return undefined
    const members = (yield* read(sql, findMembersOfIncident, [id, limits.members])).map(decodeMember)
    const changes = (yield* read(sql, findIncidentChanges, [id, limits.changes])).map(decodeIncidentChange)
    const outbox = (yield* read(sql, findOutboxOfIncident, [id, limits.outbox])).map(decodeOutbox)
    return { incident, members, changes, outbox }
  }).pipe(sql.withTransaction, Effect.provideService(SqlClient.BeginTransaction, BEGIN))
