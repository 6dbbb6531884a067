import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs"
import { dirname, resolve } from "node:path"

// As many as Linux follows.
const MOST_LINKS = 40

/**
 * The file that a path leads to, through symbolic links. SQLite keeps the log beside that one, and not beside the link. A
 * link may lead to a file that does not exist yet; one that leads nowhere is returned as it is.
 */
export const realFile = (path: string): string => {
  let file = path
  for (let links = 0; links < MOST_LINKS; links++) {
    if (existsSync(file)) return lstatSync(file).isSymbolicLink() ? realpathSync(file) : file
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return file
    file = resolve(dirname(file), readlinkSync(file))
  }
  return path
}
