import { lstatSync, statSync } from "node:fs"
import { dirname } from "node:path"

/** Whether a file or link belongs neither to root, nor to this process's user, nor to its folder's owner. */
export const isForeign = (path: string): boolean =>
  ![0, process.geteuid?.(), statSync(dirname(path)).uid].includes(lstatSync(path).uid)
