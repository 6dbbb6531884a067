/** One call of the operating system in a trace by strace; indexes are lines of the trace. */
interface SystemCall {
  readonly name: string
  readonly descriptor: number
  readonly path: string
  readonly data: Buffer
  /** Of `pwrite64` its place in the file, of `ftruncate` the new size. */
  readonly position: number
  readonly startedAt: number
  endedAt: number
}

const CALL = /^(\d+)\s+(\w+)\((\d+)<([^>]*)>(?:, "([^"]*)")?(?:, (\d+))?(?:, (\d+))?/
const RESUMED = /^(\d+)\s+<\.\.\. (\w+) resumed>/

const unescaped = (text: string): Buffer => Buffer.from(text.replaceAll("\\x", ""), "hex")

const readCalls = (trace: string): ReadonlyArray<SystemCall> => {
  const calls: Array<SystemCall> = []
  const unfinished = new Map<string, SystemCall>()
  for (const [line, text] of trace.split("\n").entries()) {
    const [, resumedBy] = RESUMED.exec(text) ?? []
    const resumed = resumedBy === undefined ? undefined : unfinished.get(resumedBy)
    if (resumed !== undefined) resumed.endedAt = line
    const [, thread = "", name, descriptor, path = "", data = "", length = "0", position = length] =
      CALL.exec(text) ?? []
    if (name === undefined) continue
    const call: SystemCall = {
      name,
      descriptor: Number(descriptor),
      path: unescaped(path).toString(),
      data: unescaped(data),
      position: Number(position),
      startedAt: line,
      endedAt: line,
    }
    calls.push(call)
    if (!text.includes("<unfinished ...>")) continue
    call.endedAt = Number.POSITIVE_INFINITY
    unfinished.set(thread, call)
  }
  return calls
}

const STANDARD_OUTPUT = 1
const SECTOR_BYTES = 512

/** Bytes that grow where they are written to. */
class Content {
  #bytes: Buffer
  #size: number

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#bytes = bytes
    this.#size = bytes.length
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#size)
  }

  /** Applies a call, a sector at a time, as far as it survives. */
  apply(call: SystemCall, survives = () => true): void {
    if (call.name === "ftruncate") {
      if (survives()) this.#resize(call.position)
      return
    }
    const end = call.position + call.data.length
    if (end > this.#size) this.#resize(end)
    for (let from = call.position; from < end;) {
      const to = Math.min(end, (Math.floor(from / SECTOR_BYTES) + 1) * SECTOR_BYTES)
      if (survives()) call.data.copy(this.#bytes, from, from - call.position, to - call.position)
      from = to
    }
  }

  #resize(size: number): void {
    if (size > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(size)])
    if (size > this.#size) this.#bytes.fill(0, this.#size, size)
    this.#size = size
  }
}

/** A file of which a loss of power leaves what was synced, and of what was written since then any of its sectors. */
class RecordedFile {
  readonly #durable = new Content()
  #written: Array<SystemCall> = []

  write(call: SystemCall): void {
    this.#written.push(call)
  }

  /** A sync that began at `startedAt` has ended. */
  sync(startedAt: number): void {
    for (const call of this.#written) if (call.endedAt < startedAt) this.#durable.apply(call)
    this.#written = this.#written.filter((call) => call.endedAt >= startedAt)
  }

  /** The bytes on the disk after a power loss now. */
  survivor(survives: () => boolean): Buffer {
    const content = new Content(Buffer.from(this.#durable.bytes))
    for (const call of this.#written) content.apply(call, survives)
    return content.bytes
  }
}

/** The remains of a power loss: the bytes of each file, and the process's output by then. */
export interface Remains {
  readonly files: ReadonlyMap<string, Buffer>
  readonly printed: string
}

interface ReplayOptions {
  readonly files: ReadonlyArray<string>
  /** The calls that count as syncs. */
  readonly syncs: ReadonlySet<string>
  /** Whether the power is lost after a call, and whether a sector that was not synced survives. */
  readonly isLost: (printed: string) => boolean
  readonly survives: () => boolean
}

/** Replays a trace against disks that lose their power again and again. */
export function* replay(
  trace: string,
  { files, syncs, isLost, survives }: ReplayOptions,
): Generator<Remains> {
  const disks = new Map(files.map((file) => [file, new RecordedFile()]))
  const calls = readCalls(trace)
  const ends = calls.filter(({ name }) => syncs.has(name)).toSorted((a, b) => a.endedAt - b.endedAt)
  let printed = ""
  for (const call of calls) {
    while (ends[0] !== undefined && ends[0].endedAt <= call.startedAt) {
      disks.get(ends[0].path)?.sync(ends[0].startedAt)
      ends.shift()
    }
    if (call.name === "pwrite64" || call.name === "ftruncate") disks.get(call.path)?.write(call)
    if (call.name === "write" && call.descriptor === STANDARD_OUTPUT) printed += call.data.toString()
    if (!isLost(printed)) continue
    yield { files: new Map(Array.from(disks, ([file, disk]) => [file, disk.survivor(survives)])), printed }
  }
}
