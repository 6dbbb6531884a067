import { closeSync, openSync, readSync } from "node:fs"

/** Up to `length` bytes of a file from `position` on; fewer where it ends. */
export const readAt = (path: string, position: number, length: number): Buffer => {
  const descriptor = openSync(path, "r")
  try {
    const buffer = Buffer.alloc(length)
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, position))
  } finally {
    closeSync(descriptor)
  }
}
