import { closeSync, constants, openSync, readSync } from "node:fs"
import { Result } from "effect"

/** No secret is longer, but a device or a log named by mistake may be. */
export const MAX_SECRET_BYTES = 65_536

const PAUSE_MILLIS = 10
/** A pipe whose writer is slower than this fails as the file of a busy device does. */
const MOST_PAUSES = 200

/**
 * Reads a text of at most `most` bytes; `undefined` if the file is larger. Devices and pipes without
 * an end are neither read whole nor waited for. Throws the error of the system if it cannot be read.
 * `flags` add to how it is opened.
 */
export const readBoundedFile = (path: string, most: number, flags = 0): string | undefined => {
  // Opening a pipe without a writer would block otherwise.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags)
  const read = Result.try(() => readBounded(file, most))
  closeSync(file)
  return Result.getOrThrowWith(read, (cause) => cause)
}

const readBounded = (file: number, most: number): string | undefined => {
  const bytes = Buffer.alloc(most + 1)
  let length = 0
  let pauses = 0
  while (length <= most) {
    const read = Result.try(() => readSync(file, bytes, length, bytes.length - length, null))
    if (Result.isFailure(read)) {
      if (!isNotReady(read.failure) || ++pauses > MOST_PAUSES) throw read.failure
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MILLIS)
    } else if (read.success === 0) return bytes.toString("utf8", 0, length)
    else length += read.success
  }
  return undefined
}

const isNotReady = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "EAGAIN"
