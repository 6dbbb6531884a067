import type { Keys } from "@tocsin/client/agent/Sender"
import { createHash, randomBytes } from "node:crypto"
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs"
import { dirname, join } from "node:path"

const KEY_BYTES = 32
const KEY_TEXT = /^[0-9a-f]{64}$/
const KEY_MODE = 0o600
/** A key that is being written longer than this was left by a process that died. */
const ABANDONED_MILLIS = 10_000
const FINGERPRINT_LENGTH = 16

/** What people compare before they accept a key: the server shows the same (docs/rules.md#agent-keys). */
export const fingerprintOf = (key: string): string =>
  createHash("sha256").update(key).digest("hex").slice(0, FINGERPRINT_LENGTH)

/**
 * The agent's key, and the one that replaces it once an operator has accepted it. Each is a file
 * that only its owner can read, written whole or not at all.
 */
export class KeyFile implements Keys {
  readonly fingerprintOf = fingerprintOf
  readonly #key: string
  readonly #next: string

  constructor(state: string) {
    this.#key = join(state, "key")
    this.#next = join(state, "key.next")
  }

  /** The key; generates it on the first use. */
  current(): string {
    if (!existsSync(this.#key)) this.#create(this.#key)
    return readKey(this.#key)
  }

  /** The replacement that waits for an operator. */
  next(): string | undefined {
    return existsSync(this.#next) ? readKey(this.#next) : undefined
  }

  /** Generates the replacement, unless one waits already. */
  rotate(): string {
    this.current()
    if (!existsSync(this.#next)) this.#create(this.#next)
    return readKey(this.#next)
  }

  /** Makes the replacement the key, once the server has accepted it. */
  promote(): void {
    renameSync(this.#next, this.#key)
    syncFolder(this.#key)
  }

  /** Whoever makes the unfinished file writes the key; a second process waits for the result. */
  #create(path: string): void {
    const unfinished = `${path}.unfinished`
    for (;;) {
      const file = openNew(unfinished)
      if (file === undefined) {
        if (existsSync(path)) return
        removeAbandoned(unfinished)
        continue
      }
      try {
        writeSync(file, `${randomBytes(KEY_BYTES).toString("hex")}\n`)
        fsyncSync(file)
      } catch (error) {
        rmSync(unfinished, { force: true })
        throw error
      } finally {
        closeSync(file)
      }
      if (existsSync(path)) rmSync(unfinished)
      else renameSync(unfinished, path)
      syncFolder(path)
      return
    }
  }
}

/** Opens a file that must not exist, with `O_EXCL`. */
const openNew = (path: string): number | undefined => {
  try {
    return openSync(path, "wx", KEY_MODE)
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return undefined
    throw error
  }
}

const removeAbandoned = (path: string): void => {
  const found = statSync(path, { throwIfNoEntry: false })
  // oxlint-disable-next-line eslint/no-restricted-properties -- compared with the time of a file, which is the wall clock's
  const age = Date.now() - (found?.mtimeMs ?? 0)
  if (found !== undefined && Math.abs(age) > ABANDONED_MILLIS) rmSync(path, { force: true })
}

const syncFolder = (path: string): void => {
  const folder = openSync(dirname(path), "r")
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

const readKey = (path: string): string => {
  const key = readFileSync(path, "utf8").trim()
  if (KEY_TEXT.test(key)) return key
  throw new Error(`${path} holds no key: remove it, start the agent again, and accept the new fingerprint`)
}
