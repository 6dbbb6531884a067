import { cpSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import type { PostgresPrograms } from "./PostgresPrograms.ts"
import type { User } from "./postgresUser.ts"

const isOpenToAll = (path: string): boolean =>
  (statSync(path).mode & 0o001) !== 0 && (path === dirname(path) || isOpenToAll(dirname(path)))

/**
 * Another user may not be able to enter a checkout: then the programs are copied to `folder`, where
 * that one can.
 */
export const reachablePrograms = (
  programs: PostgresPrograms,
  user: User,
  folder: string,
): PostgresPrograms => {
  const bin = dirname(programs.postgres)
  if (user.uid === undefined || programs.origin === "machine" || isOpenToAll(bin)) return programs
  const copy = join(folder, "programs")
  cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true })
  return { ...programs, initdb: join(copy, "bin", "initdb"), postgres: join(copy, "bin", "postgres") }
}
