import { textOf } from "./exportedLines.ts"

/** So many bytes and more are written together, which a socket does not take before it has written the former. */
const PART = 65_536

/**
 * Encodes each piece where the former was, if that is written. Pieces with memory of their own, and texts of several
 * lines, would stay until all memory is looked through: some 60 MB later.
 */
export const encodingInPlace = (isWritten: () => boolean) => {
  let place = Buffer.allocUnsafeSlow(PART)
  return (lines: ReadonlyArray<object>): ReadonlyArray<Uint8Array> => {
    if (!isWritten()) place = Buffer.allocUnsafeSlow(place.length)
    let size = 0
    for (const line of lines) {
      const text = textOf([line])
      const end = size + Buffer.byteLength(text)
      if (end > place.length) place = Buffer.concat([place.subarray(0, size)], 2 * end)
      place.write(text, size)
      size = end
    }
    const count = Math.max(1, Math.floor(size / PART))
    const length = Math.ceil(size / count)
    return Array.from({ length: count }, (_, n) =>
      place.subarray(n * length, Math.min(size, (n + 1) * length)),
    )
  }
}
