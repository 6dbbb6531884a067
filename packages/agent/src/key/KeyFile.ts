import type { Keys } from "@tocsin/reporting/agent/Sender"
import { makeFile, syncFolder } from "@tocsin/reporting/agent/makeFile"
import { createHash, randomBytes } from "node:crypto"
import * as fs from "node:fs"
import { join } from "node:path"
import { isForeign } from "../spool/StateFolder.ts"

const KEY_BYTES = 32
const KEY_TEXT = /^[0-9a-f]{64}$/
const FINGERPRINT_LENGTH = 16

/**
 * The fingerprint that operators compare before they accept a key: the server shows the same
 * (docs/rules.md#agent-keys).
 */
export const fingerprintOf = (key: string): string =>
  createHash("sha256").update(key).digest("hex").slice(0, FINGERPRINT_LENGTH)

/**
 * The agent's key, and the one that replaces it once an operator has accepted it. Each is a file
 * that only its owner can read, written whole or not at all.
 */
export class KeyFile implements Keys {
  readonly fingerprintOf = fingerprintOf
  readonly #state: string
  readonly #key: string
  readonly #next: string
  /** A replacement that is the key, although its file could not take the place of the former one. */
  #promoted: string | undefined

  constructor(state: string) {
    this.#state = state
    this.#key = join(state, "key")
    this.#next = join(state, "key.next")
  }

  /** The key; generates it on the first use. */
  current(): string {
    if (this.#promoted !== undefined) return this.#promoted
    if (!fs.existsSync(this.#key)) makeFile(fs, this.#key, newKey)
    return readKey(this.#key)
  }

  /** The replacement that waits for an operator. */
  next(): string | undefined {
    return fs.existsSync(this.#next) ? readKey(this.#next) : undefined
  }

  /** Generates the replacement, unless one waits already. */
  rotate(): string {
    this.current()
    if (!fs.existsSync(this.#next)) makeFile(fs, this.#next, newKey)
    return readKey(this.#next)
  }

  /** Removes a replacement that an operator blocked, unless another has taken its place. */
  discard(next: string): void {
    if (this.next() === next) this.#change(() => fs.rmSync(this.#next))
  }

  /** Makes the replacement the key, once the server has accepted it. It is in use also where its file cannot be renamed. */
  promote(): void {
    this.#promoted = this.next()
    this.#change(() => fs.renameSync(this.#next, this.#key))
    this.#promoted = undefined
  }

  #change(change: () => void): void {
    try {
      change()
      syncFolder(fs, this.#key)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new Error(`the key files cannot be changed (${why}): let the agent write to ${this.#state}`)
    }
  }
}

const newKey = () => `${randomBytes(KEY_BYTES).toString("hex")}\n`

const readKey = (path: string): string => {
  const refused = (why: string) =>
    new Error(`${path} ${why}: remove it, start the agent again, and accept the new fingerprint`)
  if (isForeign(path)) throw refused("belongs to another user, who may know the key")
  const key = fs.readFileSync(path, "utf8").trim()
  if (KEY_TEXT.test(key)) return key
  throw refused("holds no key")
}
