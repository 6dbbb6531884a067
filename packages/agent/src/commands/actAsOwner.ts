import { lstatSync, statSync } from "node:fs"
import { join } from "node:path"

/**
 * As root, a command acts as the owner of the key, or of the state folder before there is one: the
 * agent can then use what the command makes, and root follows no link of other users.
 */
export const actAsOwner = (state: string): void => {
  if (process.geteuid?.() !== 0) return
  const folder = statSync(state, { throwIfNoEntry: false })
  if (folder === undefined) return
  const { uid } = lstatSync(join(state, "key"), { throwIfNoEntry: false }) ?? folder
  if (uid === 0) return
  process.setgroups?.([])
  process.setgid?.(folder.gid)
  process.setuid?.(uid)
}
