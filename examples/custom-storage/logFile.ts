// A storage of your own: an append-only log file, durable at every answer, that one process has open.
import { hash } from "node:crypto"
import { open, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import process from "node:process"
import { type Entries, keyValue, type KeyValueStore, type StorageChoice } from "tocsin"

/** `createMonitor({ storage: logFile("monitoring.log") })` */
export const logFile = (path: string): StorageChoice =>
  keyValue({ name: "log file", open: () => openLog(path) })

const openLog = async (path: string): Promise<KeyValueStore> => {
  await lock(path)
  const entries = await readLog(path)
  // The log drops entries of keys that changed or went since: it grows only while it is open.
  await writeFile(`${path}.new`, lineOf(entries), { flush: true })
  await rename(`${path}.new`, path)
  await syncFolder(path)
  const file = await open(path, "r+")
  let { size } = await file.stat()
  return {
    load: () => entries as ReadonlyMap<string, string>,
    write: async (changes) => {
      const line = Buffer.from(lineOf(changes))
      // Removes what a failed write may have left there.
      await file.truncate(size)
      // A write to a full disk may write less, and only the next one fails.
      for (let written = 0; written < line.length;)
        written += (await file.write(line, written, line.length - written, size + written)).bytesWritten
      await file.datasync()
      size += line.length
    },
    close: async () => {
      await file.close()
      await rm(`${path}.lock`)
    },
  }
}

const checksum = (text: string): string => hash("sha256", text).slice(0, 16)

/** All changes of one write are one line, which is there as a whole or not at all. */
const lineOf = (changes: Entries): string => {
  const text = JSON.stringify(Array.from(changes, ([key, value]) => [key, value ?? null]))
  return `${checksum(text)} ${text}\n`
}

const readLog = async (path: string): Promise<Map<string, string>> => {
  const entries = new Map<string, string>()
  const lines = (await readFile(path, "utf8").catch(ifMissing(""))).split("\n")
  for (const [number, line] of lines.entries()) {
    const text = line.slice(17)
    if (line.slice(0, 16) !== checksum(text)) {
      // A write that was cut short was never answered. Anything else is damage.
      if (lines.slice(number + 1).every((rest) => rest === "")) break
      const problem = `line ${number + 1} of ${path} is damaged; put a copy of the file in its place`
      throw Object.assign(new Error(problem), { reason: "damaged" })
    }
    for (const [key, value] of JSON.parse(text) as ReadonlyArray<[string, string | null]>) {
      if (value === null) entries.delete(key)
      else entries.set(key, value)
    }
  }
  return entries
}

/** One process has the log open; the lock of one that died is taken over. */
const lock = async (path: string): Promise<void> => {
  const owner = Number(await readFile(`${path}.lock`, "utf8").catch(ifMissing("0")))
  if (owner !== 0 && owner !== process.pid && isRunning(owner)) {
    const problem = `${path} is open in process ${owner}; stop that process, or use another file`
    throw Object.assign(new Error(problem), { reason: "in_use" })
  }
  await writeFile(`${path}.lock`, String(process.pid))
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM"
  }
}

/** Makes a rename outlive a power failure. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(dirname(path))
  await folder.sync()
  await folder.close()
}

const ifMissing =
  (instead: string) =>
  (cause: NodeJS.ErrnoException): string => {
    if (cause.code === "ENOENT") return instead
    throw cause
  }
