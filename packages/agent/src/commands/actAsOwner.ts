import { lstatSync, statSync } from "node:fs"
import { join } from "node:path"

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
