import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Result } from "effect"
import type { Taken } from "./MovedPolicy.ts"

/** Tables of Uptime Kuma's database that are read; some came with later versions. */
const TABLES = [
  "monitor",
  "notification",
  "monitor_notification",
  "tag",
  "monitor_tag",
  "setting",
  "status_page",
  "status_page_cname",
  "group",
  "monitor_group",
  "maintenance",
  "monitor_maintenance",
] as const
export type KumaDatabase = Readonly<Record<(typeof TABLES)[number], ReadonlyArray<Taken>>>

const OLDER =
  "it is older than 1.23, or its kuma.db-wal is missing: upgrade Uptime Kuma to 1.23 or 2.x first, or copy that file too"
const OTHER = "it is not a database of Uptime Kuma: name its kuma.db"

/**
 * Reads a database of Uptime Kuma with what its write-ahead log has. It reads a copy: SQLite writes to the folder of a
 * database that it opens.
 */
export const readKuma = async (file: string): Promise<Result.Result<KumaDatabase, string>> => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-kuma-"))
  try {
    const copy = join(folder, "kuma.db")
    copyFileSync(file, copy)
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`)
    const { DatabaseSync } = await import("node:sqlite")
    const database = new DatabaseSync(copy)
    try {
      const present = new Set(
        database
          .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
          .all()
          .map(({ name }) => String(name)),
      )
      if (!["monitor", "monitor_notification"].every((name) => present.has(name))) return Result.fail(OTHER)
      const columns = database.prepare("PRAGMA table_info(monitor)").all()
      // It came with 1.23.
      if (!columns.some(({ name }) => name === "json_path")) return Result.fail(OLDER)
      const rows = TABLES.map((table) => [
        table,
        present.has(table) ? database.prepare(`SELECT * FROM "${table}" ORDER BY id`).all() : [],
      ])
      // The names are those of the tables.
      return Result.succeed(Object.fromEntries(rows) as KumaDatabase)
    } finally {
      database.close()
    }
  } catch (error) {
    const isMissing =
      error instanceof Error && "code" in error && ["ENOENT", "EACCES", "EISDIR"].includes(String(error.code))
    return Result.fail(isMissing ? "it cannot be read: check its path and its rights" : OTHER)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
