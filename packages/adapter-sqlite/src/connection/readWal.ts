import { closeSync, openSync, readSync, statSync } from "node:fs"

/** What a write-ahead log holds that is committed. */
export interface WalContent {
  /** Numbers of the pages in it. */
  readonly pages: ReadonlySet<number>
  /** How many pages the database has with it; `undefined` when it holds no commit. */
  readonly pageCount: number | undefined
}

// SQLite, "Database File Format", 4.1: a header of 32 bytes, then frames of a header of 24 and one page each.
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x37_7f_06_82
const PAGE_SIZE_AT = 8
const SALT_AT = 16
const FRAME_COUNT_AT = 4
const FRAME_SALT_AT = 8
const SALT_BYTES = 8

const NOTHING: WalContent = { pages: new Set(), pageCount: undefined }

/**
 * Which pages a write-ahead log holds. Frames of an earlier use of the log carry another salt and end the reading, as
 * they do for SQLite. Checksums are left to SQLite: a torn last commit adds here only pages that it would add itself.
 */
export const readWal = (path: string): WalContent => {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return NOTHING
  const descriptor = openSync(path, "r")
  try {
    return readFrames((position, buffer) => readSync(descriptor, buffer, 0, buffer.length, position))
  } finally {
    closeSync(descriptor)
  }
}

const readFrames = (read: (position: number, buffer: Buffer) => number): WalContent => {
  const header = Buffer.alloc(HEADER_BYTES)
  // The lowest bit of the magic number tells the byte order of checksums.
  if (read(0, header) < HEADER_BYTES || (header.readUInt32BE(0) & ~1) >>> 0 !== MAGIC) return NOTHING
  const salt = header.subarray(SALT_AT, SALT_AT + SALT_BYTES)
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_AT)
  const pages = new Set<number>()
  let uncommitted: Array<number> = []
  let pageCount: number | undefined
  const frame = Buffer.alloc(FRAME_HEADER_BYTES)
  for (let position = HEADER_BYTES; read(position, frame) === FRAME_HEADER_BYTES; position += frameBytes) {
    if (!frame.subarray(FRAME_SALT_AT, FRAME_SALT_AT + SALT_BYTES).equals(salt)) break
    uncommitted.push(frame.readUInt32BE(0))
    const committed = frame.readUInt32BE(FRAME_COUNT_AT)
    if (committed === 0) continue
    pageCount = committed
    for (const page of uncommitted) pages.add(page)
    uncommitted = []
  }
  return { pages, pageCount }
}
