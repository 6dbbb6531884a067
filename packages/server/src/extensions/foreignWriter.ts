import { realpathSync, statSync } from "node:fs"
import { dirname } from "node:path"
import process from "node:process"

/** A file or folder, and all folders above it. */
const withFoldersAbove = (path: string): ReadonlyArray<string> => {
  const folder = dirname(path)
  return folder === path ? [path] : [path, ...withFoldersAbove(folder)]
}

const WRITABLE_BY_OTHERS = 0o022
/** Others may add files to such a folder, but can neither delete nor replace those of its owner. */
const STICKY = 0o1000

/**
 * Why others than this process's user and root could change or replace a file or a folder, and what to do;
 * nothing if they cannot. Windows has no such users.
 */
export const foreignWriter = (path: string): string | undefined => {
  const own = process.getuid?.()
  if (own === undefined) return undefined
  for (const each of new Set([path, realpathSync(path)].flatMap(withFoldersAbove))) {
    const entry = statSync(each)
    if (entry.uid !== 0 && entry.uid !== own)
      return `${each} belongs to user ${entry.uid}: make root or the user of Tocsin (${own}) its owner`
    const isKept = entry.isDirectory() && (entry.mode & STICKY) !== 0
    if ((entry.mode & WRITABLE_BY_OTHERS) !== 0 && !isKept)
      return `other users can write ${each}: run chmod go-w on it`
  }
  return undefined
}
