import { lstatSync, readlinkSync, realpathSync, type Stats } from "node:fs"
import { dirname, resolve } from "node:path"
import process from "node:process"

/** A file or folder, all folders above it, and the same of each symbolic link on the way. */
const wayTo = (path: string): ReadonlyMap<string, Stats> => {
  const entry = lstatSync(path)
  const folder = dirname(path)
  const way = folder === path ? [] : [...wayTo(folder)]
  const target = entry.isSymbolicLink() ? [...wayTo(resolve(realpathSync(folder), readlinkSync(path)))] : []
  return new Map([[path, entry], ...target, ...way.toReversed()])
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
  for (const [each, entry] of wayTo(path)) {
    if (entry.uid !== 0 && entry.uid !== own)
      return `${each} belongs to user ${entry.uid}: make root or the user of Tocsin (${own}) its owner`
    // The rights of a link are those of its folder and its target.
    const isKept = entry.isSymbolicLink() || (entry.isDirectory() && (entry.mode & STICKY) !== 0)
    if ((entry.mode & WRITABLE_BY_OTHERS) !== 0 && !isKept)
      return `other users can write ${each}: run chmod go-w on it`
  }
  return undefined
}
