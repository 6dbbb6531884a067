import { closeSync, existsSync, lstatSync, mkdirSync, openSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { codeOf } from "../config/Reader.ts"
import { isBusy } from "./spoolFault.ts"

/** Nobody else may read the key. */
const MODE = 0o700

/**
 * Makes the state folder and those above it. The `recursive` option of Node.js tries forever below a
 * folder whose file system refuses by ENOENT, such as /proc.
 */
export const makeStateFolder = (path: string): void => {
  try {
    mkdirSync(path, { mode: MODE })
  } catch (error) {
    if (codeOf(error) === "EEXIST" && statSync(path).isDirectory()) return
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw error
    makeStateFolder(dirname(path))
    mkdirSync(path, { mode: MODE })
  }
}

/** Whether a file or link belongs neither to root, nor to this process's user, nor to its folder's owner. */
export const isForeign = (path: string): boolean =>
  ![0, process.geteuid?.(), statSync(dirname(path)).uid].includes(lstatSync(path).uid)

/**
 * Where other users report from jobs, the spool has a folder that they can write to, as the package
 * makes it (docs/agent.md#files). Elsewhere it is in the state folder.
 */
export const spoolPath = (state: string): string => {
  const shared = join(state, "spool")
  return join(existsSync(shared) ? shared : state, "spool.db")
}

const STICKY = 0o1000

/**
 * Whether the agent of a spool is another user's, who shares its folder. Linux lets nobody open a file that this
 * process makes there to write it (`fs.protected_regular`), so it makes none that others have to write.
 */
export const isGuest = (path: string): boolean => {
  const { mode, uid } = statSync(dirname(path))
  const owners = [0, uid, statSync(dirname(dirname(path))).uid]
  return (mode & STICKY) !== 0 && !owners.includes(process.geteuid?.() ?? uid)
}

/** A user who can read the file can hold the lock. */
const LOCK_MODE = 0o600

/**
 * Takes the lock of the agent that runs on a state folder, and returns what releases it; `undefined` if
 * another agent holds it. The system releases it when the process ends, however it ends, so no stale
 * lock is left.
 */
export const lockAgent = (state: string): (() => void) | undefined => {
  const path = join(state, "agent.lock")
  // Before SQLite opens it: the system gives up all locks of a process that closes the file.
  closeSync(openSync(path, "a", LOCK_MODE))
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    // A journal on a full disk would refuse the lock.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
    return () => database.close()
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

/** The owner of the key, or of the state folder before there is one, where root has to act as that user. */
const ownerOf = (state: string): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.geteuid?.() !== 0) return undefined
  const folder = statSync(state, { throwIfNoEntry: false })
  if (folder === undefined) return undefined
  const { uid } = lstatSync(join(state, "key"), { throwIfNoEntry: false }) ?? folder
  return uid === 0 ? undefined : { uid, gid: folder.gid }
}

/** The groups of the owner, such as one that reads logs; none of a user that the system does not know. */
const joinGroups = ({ uid, gid }: { readonly uid: number; readonly gid: number }): void => {
  try {
    // The types of Node.js lack it.
    const { initgroups } = process as { readonly initgroups?: (user: number, group: number) => void }
    initgroups?.(uid, gid)
  } catch {
    process.setgroups?.([])
  }
}

/**
 * As root, a command acts as the owner of the state folder: the agent can then use what the command
 * makes, and root follows no link of other users. Returns whether the user changed.
 */
export const actAsOwner = (state: string): boolean => {
  const owner = ownerOf(state)
  if (owner === undefined) return false
  joinGroups(owner)
  process.setgid?.(owner.gid)
  process.setuid?.(owner.uid)
  return true
}

/** The same for a piece of work, after which root starts a job with its own rights. */
export const asOwner = <A>(state: string, work: () => A): A => {
  const owner = ownerOf(state)
  if (owner === undefined) return work()
  const [groups, group] = [process.getgroups?.() ?? [], process.getegid?.() ?? 0]
  process.setgroups?.([])
  process.setegid?.(owner.gid)
  process.seteuid?.(owner.uid)
  try {
    return work()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(group)
    process.setgroups?.(groups)
  }
}
