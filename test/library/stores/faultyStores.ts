// Stores over a log file, most of them with a fault. They import nothing of Tocsin: a child process starts with one
// in a twentieth of a second.
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import process from "node:process"
import { setTimeout as pause } from "node:timers/promises"

type Change = readonly [key: string, text: string | undefined]
type Changes = ReadonlyMap<string, string | undefined>

interface Store {
  readonly load: () => Iterable<readonly [string, string]>
  readonly write: (changes: Changes) => Promise<void>
  readonly close: () => Promise<void>
}

/** A store whose parts a fault replaces. */
interface Parts {
  readonly lock: (path: string) => Promise<void> | void
  readonly unlock: (path: string) => void
  /** Changes that are written as one line each. */
  readonly lines: (changes: ReadonlyArray<Change>) => ReadonlyArray<ReadonlyArray<Change>>
  readonly key: (key: string) => string
  readonly text: (text: string) => string
  readonly append: (log: Log, lines: ReadonlyArray<string>) => Promise<void>
  /** Wraps a store that is open. */
  readonly store: (store: Store, path: string) => Store
}

/** As long as a disk takes to sync, which a folder in memory does not. */
const SYNC_MILLIS = 4

class Log {
  readonly #file: FileHandle
  size: number

  constructor(file: FileHandle, size: number) {
    this.#file = file
    this.size = size
  }

  async append(line: string): Promise<void> {
    const bytes = Buffer.from(line)
    for (let written = 0; written < bytes.length;)
      written += (await this.#file.write(bytes, written, bytes.length - written, this.size + written))
        .bytesWritten
    this.size += bytes.length
    await pause(SYNC_MILLIS)
  }

  /** Removes what a failed write left. */
  tidy(): Promise<void> {
    return this.#file.truncate(this.size)
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

const lineOf = (changes: ReadonlyArray<Change>): string =>
  `${JSON.stringify(changes.map(([key, text]) => [key, text ?? null]))}\n`

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const refuse = (path: string): void => {
  const owner = existsSync(`${path}.lock`) ? Number(readFileSync(`${path}.lock`, "utf8")) : 0
  if (owner !== 0 && owner !== process.pid && isRunning(owner))
    throw new Error("another process has the store open")
}

const goodParts: Parts = {
  lock: (path) => {
    refuse(path)
    writeFileSync(`${path}.lock`, String(process.pid))
  },
  unlock: (path) => rmSync(`${path}.lock`),
  lines: (changes) => [changes],
  key: (key) => key,
  text: (text) => text,
  append: async (log, lines) => {
    await log.tidy()
    for (const line of lines) await log.append(line)
  },
  store: (store) => store,
}

/** A line that was cut short was never acknowledged. */
const readLines = (path: string): ReadonlyArray<string> =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : []

const openStore = async (path: string, parts: Parts): Promise<Store> => {
  await parts.lock(path)
  const entries = new Map<string, string>()
  const lines = readLines(path)
  for (const [key, text] of lines.flatMap((line): ReadonlyArray<[string, string | null]> =>
    JSON.parse(line),
  )) {
    if (text === null) entries.delete(key)
    else entries.set(key, text)
  }
  const size = lines.reduce((bytes, line) => bytes + Buffer.byteLength(line) + 1, 0)
  const log = new Log(await open(path, existsSync(path) ? "r+" : "w+"), size)
  const changed = ([key, text]: Change): Change => [
    parts.key(key),
    text === undefined ? text : parts.text(text),
  ]
  const store: Store = {
    load: () => entries,
    write: async (changes) => {
      const written = parts.lines(Array.from(changes, changed)).map(lineOf)
      await parts.append(log, written)
    },
    close: async () => {
      await log.close()
      parts.unlock(path)
    },
  }
  return parts.store(store, path)
}

const storeWith = (parts: Partial<Parts>) => (folder: string) => ({
  name: "log",
  open: () => openStore(`${folder}/log`, { ...goodParts, ...parts }),
})

const isPut = ([, text]: Change): boolean => text !== undefined

/** Runs writes in turn, as a queue of promises does. */
const inTurn = (
  store: Store,
  queue: (last: Promise<void>, next: () => Promise<void>) => Promise<void>,
): Store => {
  let last = Promise.resolve()
  return {
    ...store,
    write: (changes) => {
      last = queue(last, () => store.write(changes))
      return last
    },
  }
}

const chunksOf = (changes: ReadonlyArray<Change>, size: number) =>
  Array.from({ length: Math.ceil(changes.length / size) }, (_, n) => changes.slice(n * size, (n + 1) * size))

export const good = storeWith({})
/** As good, for all that a killed process shows. */
export const queued = storeWith({
  store: (store) => inTurn(store, (last, next) => last.then(next, next)),
})

// Acknowledged too early.
const forgotten = (lines: Promise<void>): void => void lines.catch(() => {})
export const fireAndForget = storeWith({
  append: async (log, lines) => forgotten(goodParts.append(log, lines)),
})
export const awaitsSmallWrites = storeWith({
  append: async (log, lines) => {
    const writing = goodParts.append(log, lines)
    if (lines.join("").length < 50_000) await writing
    else forgotten(writing)
  },
})
export const writesLater = storeWith({
  append: async (log, lines) => void setTimeout(() => forgotten(goodParts.append(log, lines)), 3),
})
export const writesAtTheNextWrite = storeWith({
  store: (store) => {
    let waiting: Changes = new Map()
    return {
      ...store,
      write: async (changes) => {
        await store.write(waiting)
        waiting = changes
      },
      close: async () => {
        await store.write(waiting)
        await store.close()
      },
    }
  },
})
export const losesLast = storeWith({
  store: (store) => {
    let waiting: Changes = new Map()
    return {
      ...store,
      write: async (changes) => {
        await store.write(waiting)
        waiting = changes
      },
    }
  },
})
export const writesWhenItCloses = storeWith({
  store: (store) => {
    const waiting = new Map<string, string | undefined>()
    return {
      ...store,
      write: async (changes) => {
        for (const [key, text] of changes) waiting.set(key, text)
      },
      close: async () => {
        await store.write(waiting)
        await store.close()
      },
    }
  },
})

// Torn.
export const notAtomic = storeWith({ lines: (changes) => changes.map((change) => [change]) })
export const deletesAfterwards = storeWith({
  lines: (changes) => [changes.filter(isPut), changes.filter((change) => !isPut(change))],
})
export const writesInChunks = storeWith({ lines: (changes) => chunksOf(changes, 100) })
export const largeTextsFirst = storeWith({
  lines: (changes) => {
    const isLarge = ([, text = ""]: Change) => text.length > 1_000
    return [changes.filter(isLarge), changes.filter((change) => !isLarge(change))]
  },
})

// Other keys.
export const lowerCaseKeys = storeWith({ key: (key) => key.toLowerCase() })
export const normalizedKeys = storeWith({ key: (key) => key.normalize("NFC") })
export const shortKeys = storeWith({ key: (key) => key.slice(0, 255) })
export const decodedKeys = storeWith({ key: (key) => decodeURIComponent(key) })

// Other texts.
export const lossyText = storeWith({ text: (text) => text.normalize("NFC") })
export const latinText = storeWith({ text: (text) => Buffer.from(text, "latin1").toString("latin1") })
export const withoutMarks = storeWith({ text: (text) => text.replaceAll("\ufeff", "") })
export const shortText = storeWith({ text: (text) => text.slice(0, 1_048_576) })
export const replacedText = storeWith({ text: (text) => '{"x"}'.replace('{"x"}', text) })

// Deletions.
export const dropsDeletes = storeWith({ lines: (changes) => [changes.filter(isPut)] })
export const emptiesInsteadOfDeleting = storeWith({
  lines: (changes) => [changes.map(([key, text]): Change => [key, text ?? ""])],
})
export const refusesAbsentKeys = storeWith({
  store: (store) => {
    const known = new Set(Array.from(store.load(), ([key]) => key))
    return {
      ...store,
      write: async (changes) => {
        for (const [key, text] of changes) {
          if (text === undefined && !known.delete(key)) throw new Error(`there is no ${key}`)
          if (text !== undefined) known.add(key)
        }
        await store.write(changes)
      },
    }
  },
})
export const deletesTwins = storeWith({
  store: (store) => {
    const known = new Map(store.load())
    return {
      ...store,
      write: async (changes) => {
        const deleted = new Set(
          Array.from(changes).flatMap(([key, text]) => (text === undefined ? [key.toLowerCase()] : [])),
        )
        const twins = Array.from(known.keys()).filter((key) => deleted.has(key.toLowerCase()))
        await store.write(new Map([...twins.map((key) => [key, undefined] as const), ...changes]))
        for (const [key, text] of changes) known.set(key, text ?? "")
      },
    }
  },
})

// Locks.
export const noLock = storeWith({ lock: () => {}, unlock: () => {} })
export const locksForever = storeWith({
  lock: (path) => writeFileSync(`${path}.lock`, String(process.pid), { flag: "wx" }),
})
export const waitsForTheLock = storeWith({
  lock: async (path) => {
    for (;;) {
      try {
        return await goodParts.lock(path)
      } catch {
        await pause(20, undefined, { ref: false })
      }
    }
  },
})
export const breaksTheLock = storeWith({
  lock: (path) => {
    try {
      refuse(path)
    } finally {
      writeFileSync(`${path}.lock`, String(process.pid))
    }
  },
})
export const emptiesBeforeItLocks = storeWith({
  lock: (path) => {
    if (existsSync(path)) truncateSync(path, 0)
    return goodParts.lock(path)
  },
})
export const blamesTheFile = storeWith({
  lock: (path) => {
    try {
      return goodParts.lock(path)
    } catch (cause) {
      throw Object.assign(new Error("the file cannot be read", { cause }), { reason: "damaged" })
    }
  },
})
export const noClose = storeWith({ unlock: () => {} })
export const closesNever = storeWith({
  store: (store) => ({ ...store, close: () => new Promise(() => {}) }),
})

// Writes behind others.
export const busyUntilTheNextTick = storeWith({
  store: (store) => {
    let isBusy = false
    return {
      ...store,
      write: async (changes) => {
        if (isBusy) throw new Error("busy")
        isBusy = true
        try {
          await store.write(changes)
        } finally {
          setImmediate(() => (isBusy = false))
        }
      },
    }
  },
})
export const joinsTheWriteBefore = storeWith({
  store: (store) => {
    let writing: Promise<void> | undefined
    return {
      ...store,
      write: (changes) => {
        if (writing !== undefined) return writing
        const written = store.write(changes)
        writing = written
        void written.then(() => {}).then(() => (writing = undefined))
        return written
      },
    }
  },
})
export const dropsAWriteInTheTick = storeWith({
  store: (store) => {
    let isWriting = false
    return {
      ...store,
      write: async (changes) => {
        if (isWriting) return
        isWriting = true
        await store.write(changes)
        setImmediate(() => (isWriting = false))
      },
    }
  },
})

// Writes behind a rejected one.
export const brokenQueue = storeWith({
  store: (store) => inTurn(store, (last, next) => last.then(next)),
})
export const stuckQueue = storeWith({
  store: (store) =>
    inTurn(store, async (last, next) => {
      await last.catch(() => new Promise(() => {}))
      await next()
    }),
})
export const dropsTheNextWrite = storeWith({
  store: (store) => {
    let isDropping = false
    return {
      ...store,
      write: async (changes) => {
        const isDropped = isDropping
        isDropping = false
        if (isDropped) return
        await store.write(changes).catch((error: unknown) => {
          isDropping = true
          throw error
        })
      },
    }
  },
})
export const keepsAPart = storeWith({
  lines: (changes) => changes.map((change) => [change]),
  append: async (log, lines) => {
    for (const line of lines)
      await log.append(line).catch((error: unknown) => {
        // As if the file were open for appending, behind what was written of the line.
        log.size = 4_194_304
        throw error
      })
  },
})
