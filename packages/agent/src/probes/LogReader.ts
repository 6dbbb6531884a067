import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { isUtf8 } from "node:buffer"
import { createHash } from "node:crypto"
import type { BigIntStats } from "node:fs"
import { constants, type FileHandle, open, readdir, stat } from "node:fs/promises"
import { setImmediate as nextTurn } from "node:timers/promises"
import { basename, dirname, join } from "node:path"
import { codeOf } from "../config/Reader.ts"
import { fieldsOf } from "@tocsin/reporting/agent/Answer"
import { savedNote } from "../spool/savedNote.ts"
import { examining } from "./examining.ts"

/** Up to where a log was searched. */
export interface LogPosition {
  readonly path: string
  /** The number of the file; empty while there was none. Devices may have other numbers after a start. */
  readonly file: string
  readonly offset: number
  /** A hash of the bytes before the offset, which another content of the file does not have; at 0, when the file was changed. */
  readonly anchor: string
}

/** The position in a note, which members of the agent's group can write. */
export const savedPosition = (note: string | undefined, path: string): LogPosition | undefined => {
  const { path: searched, file, offset, anchor } = fieldsOf(savedNote(note))
  if (searched !== path || typeof file !== "string" || typeof anchor !== "string") return undefined
  const isOffset = typeof offset === "number" && Number.isSafeInteger(offset) && offset >= 0
  return isOffset ? { path, file, offset, anchor } : undefined
}

interface LogSearch {
  readonly path: string
  readonly position: LogPosition | undefined
  readonly take: (line: string) => void
  readonly clock: Clock
  readonly signal: AbortSignal
}

const statOf = examining((path) => stat(path))

/** A search ends after this, and the next run goes on there. */
const LONGEST_MILLIS = 2_000
/** Other checks run in between. */
const LONGEST_TURN_MILLIS = 20

/**
 * Takes the lines that came since a position, each exactly once:
 *
 * | position | file | searched |
 * |---|---|---|
 * | none | exists | nothing: its end is remembered |
 * | none | missing | nothing; once the file exists, all of its lines |
 * | in a file | has the same bytes before the position | the lines behind it |
 * | at the beginning of a file | the same, and a copy was made since under a name with a number | the copy, then the file |
 * | in a file | shorter, or other bytes: renamed, truncated or written again | the rest of the former file, if it is beside the file under a name that begins alike; then the file |
 * | in a file | missing, or empty beside the former one | the rest of the former file, in which the position stays |
 * | in a file | missing, and the former one too | nothing: the position stays |
 */
export const newLines = async (search: LogSearch) => {
  const { path, position, clock } = search
  const ends = clock.steady() + LONGEST_MILLIS
  await using current = await openLog(path, clock)
  if (current !== undefined) refuseUtf16(await current.read(0, SAMPLE), path)
  if (position === undefined) {
    const { file = "", size = 0 } = current ?? {}
    const anchor = current === undefined ? "" : await current.anchorAt(size)
    const remarks = current === undefined ? [] : ["searched from its end on"]
    return { position: { path, file, offset: size, anchor }, isMissing: current === undefined, remarks }
  }
  const hasSame = current !== undefined && (await current.hasBytesOf(position))
  await using former =
    hasSame && current.file === position.file && position.offset > 0
      ? undefined
      : await formerOf(search, position, current)
  // Some file systems number a file again.
  const isRenamed = former?.file === position.file
  const isCopied = former !== undefined && position.offset === 0
  if (hasSame && !isRenamed && !isCopied)
    return await readFrom(current, position.offset, { search, ends, isFinished: false })
  // A program writes to the renamed file until it opens the new one.
  const isFinished = current !== undefined && current.size > 0
  const rest = former && (await readFrom(former, position.offset, { search, ends, isFinished }))
  if (rest !== undefined && (!isFinished || rest.isLate)) return rest
  if (current === undefined) return { position, isMissing: true, remarks: [] }
  const read = await readFrom(current, 0, { search, ends, isFinished: false })
  const isLost = position.file !== "" && former === undefined
  return isLost ? { ...read, remarks: [...read.remarks, LOST] } : read
}

const LOST = "the former file is gone, and its last lines were not searched"

/** A line is searched in pieces of this many bytes. */
const LONGEST_LINE = 65_536
const CHUNK = 262_144
const ANCHOR = 256
const NEW_LINE = 10

const SAMPLE = 1_024

/** No text is found in UTF-16, with its mark at the start of the file or without: one byte of most characters is 0. */
const refuseUtf16 = (bytes: Buffer, path: string): void => {
  const sample = bytes.subarray(0, SAMPLE)
  const zeros = [0, 1].map(
    (half) => sample.filter((byte, at) => at % 2 === half && byte === 0 && (sample[at ^ 1] ?? 0) > 0).length,
  )
  const isMarked = ["fffe", "feff"].includes(sample.toString("hex", 0, 2))
  // A file that was emptied under its program may begin with zeros alone.
  if (isMarked || zeros.some((count) => count > 2 && count * 6 > sample.length))
    throw new Error(`${path} is in UTF-16: let its program write UTF-8, or convert it and check the result`)
}

/** An open log. */
class LogFile {
  readonly file: string
  readonly size: number
  /** When it was made; 0 where the file system does not say. */
  readonly madeAt: number
  readonly #changedAt: number
  readonly #handle: FileHandle

  constructor(handle: FileHandle, { ino, size, birthtimeNs, mtimeNs }: BigIntStats) {
    this.#handle = handle
    this.file = String(ino)
    this.size = Number(size)
    this.madeAt = Number(birthtimeNs)
    this.#changedAt = Number(mtimeNs)
  }

  async read(from: number, length: number): Promise<Buffer> {
    const { buffer, bytesRead } = await this.#handle.read(Buffer.alloc(length), 0, length, from)
    return buffer.subarray(0, bytesRead)
  }

  async anchorAt(offset: number): Promise<string> {
    if (offset === 0) return String(this.#changedAt)
    const from = Math.max(0, offset - ANCHOR)
    const before = await this.read(from, offset - from)
    return createHash("sha256").update(before).digest("base64url")
  }

  /** Whether the bytes before a position are here. At the beginning, only the number of the file says so. */
  async hasBytesOf({ file, offset, anchor }: LogPosition): Promise<boolean> {
    if (offset === 0) return file === this.file
    return offset <= this.size && (await this.anchorAt(offset)) === anchor
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }
}

/** `undefined` where there is no file. Never waits for a writer, as the opening of a pipe does. */
const openLog = async (path: string, clock: Clock, flags = 0): Promise<LogFile | undefined> => {
  try {
    await statOf(path, clock)
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags)
    const found = await handle.stat({ bigint: true })
    if (found.isFile()) return new LogFile(handle, found)
    await handle.close()
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  }
  throw new Error(`${path} is not a file`)
}

/** Behind the name of a log, by programs that copy and then empty it. */
const ROTATED = /^[-._]\d[-._\d]*$/

/**
 * The file of a position under its new name, or else the longest copy of it: an older one lacks lines.
 * Where there were no bytes, the first copy that was made since. Others that cannot be read do not count.
 */
const formerOf = async (
  { path, clock }: LogSearch,
  position: LogPosition,
  current: LogFile | undefined,
): Promise<LogFile | undefined> => {
  if (position.file === "") return undefined
  const [folder, name] = [dirname(path), basename(path)]
  const names = await readdir(folder).catch(() => [])
  let best: LogFile | undefined
  const isAtStart = position.offset === 0
  const rankOf = ({ file, madeAt, size }: LogFile): number =>
    file === position.file ? Number.POSITIVE_INFINITY : isAtStart ? -madeAt : size
  const isFormer = async (found: LogFile, suffix: string): Promise<boolean> => {
    if (found.file === current?.file) return false
    const isNewCopy = isAtStart && ROTATED.test(suffix) && found.madeAt > Number(position.anchor)
    return isNewCopy || (await found.hasBytesOf(position).catch(() => false))
  }
  for (const one of names) {
    if (one === name || !one.startsWith(name)) continue
    // A link could lead to the file of another.
    const found = await openLog(join(folder, one), clock, constants.O_NOFOLLOW).catch(() => undefined)
    if (found === undefined) continue
    const isBetter =
      (best === undefined || rankOf(found) > rankOf(best)) && (await isFormer(found, one.slice(name.length)))
    const other = isBetter ? best : found
    if (isBetter) best = found
    await other?.[Symbol.asyncDispose]()
  }
  return best
}

interface Reading {
  readonly search: LogSearch
  readonly ends: number
  readonly isFinished: boolean
}

/** Takes the lines behind an offset; an unfinished one only where it is long, or the file is finished. */
const readFrom = async (
  log: LogFile,
  from: number,
  { search: { path, take, clock, signal }, ends, isFinished }: Reading,
) => {
  let [offset, rest] = [from, Buffer.alloc(0)]
  const taken = (bytes: Buffer): void => {
    // A piece of a long line may begin or end within a character.
    const isUtf = bytes.length === LONGEST_LINE || isUtf8(bytes)
    take(bytes.toString(isUtf ? "utf8" : "latin1").replace(/\r$/, ""))
  }
  let isLate = false
  let pauseAt = clock.steady() + LONGEST_TURN_MILLIS
  while (!isLate) {
    signal.throwIfAborted()
    const chunk = await log.read(offset + rest.length, CHUNK)
    if (chunk.length === 0) break
    refuseUtf16(chunk, path)
    rest = Buffer.concat([rest, chunk])
    while (!isLate) {
      const end = rest.subarray(0, LONGEST_LINE + 1).indexOf(NEW_LINE)
      if (end < 0 && rest.length <= LONGEST_LINE) break
      const length = end < 0 ? LONGEST_LINE : end
      taken(rest.subarray(0, length))
      const next = end < 0 ? length : length + 1
      rest = rest.subarray(next)
      offset += next
      const now = clock.steady()
      isLate = now > ends
      if (now < pauseAt) continue
      await nextTurn()
      pauseAt = clock.steady() + LONGEST_TURN_MILLIS
    }
  }
  if (isFinished && !isLate && rest.length > 0) {
    taken(rest)
    offset += rest.length
  }
  const left = Math.max(0, log.size - offset)
  return {
    position: { path, file: log.file, offset, anchor: await log.anchorAt(offset) },
    isMissing: false,
    isLate,
    remarks: isLate ? [`${left} bytes are left for the next run`] : [],
  }
}
