import { mkdirSync, statSync, lstatSync } from "node:fs"
import { dirname } from "node:path"

/** Nobody else may read the key. */
const MODE = 0o700

const codeOf = (error: unknown): unknown => error instanceof Error && "code" in error && error.code

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
