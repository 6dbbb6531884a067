import type { Instant } from "@tocsin/core/contract/Instant"
import type { MarkRecord } from "@tocsin/core/liveness/MarkRecord"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { upsert } from "./upsert.ts"

const COLUMNS = ["name", "marked_at", "outage_ended_at"] as const

type MarkRow = readonly [name: MarkRecord["name"], marked_at: Instant, outage_ended_at: Instant | null]

/** Table `mark`. */
export const makeMarkRows = (connection: SqliteConnection) => {
  const byName = connection.query<MarkRow>(`SELECT ${COLUMNS.join(", ")} FROM mark WHERE name = ?`)
  const write = connection.query(upsert("mark", COLUMNS, ["name"]))
  return {
    find: (name: MarkRecord["name"]): MarkRecord | undefined => {
      const row = byName.get(name)
      return row && { name: row[0], marked_at: row[1], outage_ended_at: row[2] ?? undefined }
    },
    write: (mark: MarkRecord): void => {
      write.run(mark.name, mark.marked_at, mark.outage_ended_at ?? null)
    },
  }
}
