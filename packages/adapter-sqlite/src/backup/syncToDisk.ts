import { closeSync, fsyncSync, openSync } from "node:fs"

/** Sees that a file, or what stands in a folder, is on the disk. Throws what the file system says. */
export const syncToDisk = (path: string): void => {
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
