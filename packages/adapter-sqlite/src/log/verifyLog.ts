/** How to read a log. */
export interface LogReading {
  /** How many of its pages are in use. */
  readonly pages: number
  /** Whether to write each page again and sync it: after a failed sync it may be in memory only. */
  readonly isWrittenAgain: boolean
}

/**
 * Whether the pages in use of a write-ahead log read back as SQLite wrote them, by its chain of
 * checksums (SQLite, "Database File Format", 4.2).
 */
export const verifyLog = (path: string, { pages, isWrittenAgain }: LogReading): boolean => {
  const { openSync, readSync, writeSync, fsyncSync, closeSync } = process.getBuiltinModule("node:fs")
  const headerBytes = 32
  const frameHeaderBytes = 24
  const saltAt = 16
  const descriptor = openSync(path, isWrittenAgain ? "r+" : "r")
  try {
    const header = Buffer.alloc(headerBytes)
    if (readSync(descriptor, header, 0, headerBytes, 0) < headerBytes) return pages === 0
    // The lowest bit of the magic number is the byte order of the checksums.
    const isLittle = (header.readUInt32BE(0) & 1) === 0
    let [first, second] = [0, 0]
    const sum = (bytes: Buffer, from: number, to: number) => {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
      for (let at = from; at < to; at += 8) {
        first = (first + view.getUint32(at, isLittle) + second) >>> 0
        second = (second + view.getUint32(at + 4, isLittle) + first) >>> 0
      }
    }
    const isSum = (bytes: Buffer, at: number) =>
      bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second
    sum(header, 0, 24)
    if (!isSum(header, 24)) return pages === 0
    if (isWrittenAgain) writeSync(descriptor, header, 0, headerBytes, 0)
    const frame = Buffer.alloc(frameHeaderBytes + header.readUInt32BE(8))
    for (let page = 0; page < pages; page++) {
      const position = headerBytes + page * frame.length
      if (readSync(descriptor, frame, 0, frame.length, position) < frame.length) return false
      if (frame.compare(header, saltAt, saltAt + 8, 8, 16) !== 0) return false
      sum(frame, 0, 8)
      sum(frame, frameHeaderBytes, frame.length)
      if (!isSum(frame, 16)) return false
      if (isWrittenAgain) writeSync(descriptor, frame, 0, frame.length, position)
    }
    if (isWrittenAgain) fsyncSync(descriptor)
    return true
  } finally {
    closeSync(descriptor)
  }
}
