import assert from "node:assert/strict"
import type { Entries, KeyValueStore } from "@tocsin/adapter-memory/keyValue/entries"
import { type KeyValueOptions, storeProblem, wordsOf } from "@tocsin/adapter-memory/keyValue/KeyValueStorage"
import { apply, assertRows, AWAIT, changesOf, textOf } from "./rows.ts"

/** The writes of a first look: enough of them, and a large one at the end, to see one that nothing waits for. */
const FIRST_WRITES = 40
const FIRST_ROWS = 200
const LAST_SIZE = 1_048_576

/** A store that must have the same entries whenever it is opened again. */
export class ReopenedStore {
  readonly #options: KeyValueOptions
  /** The acknowledged entries; unknown before it is opened, and after it rejected a write. */
  #rows: Map<string, string> | undefined

  constructor(options: KeyValueOptions) {
    this.#options = options
  }

  readonly open = async (): Promise<KeyValueStore> => {
    const store = await this.#open()
    return {
      load: () => this.#load(store),
      write: async (changes) => this.#write(store, changes),
      close: async () => store.close?.(),
    }
  }

  /** A first look: writes one after another, and then all of their rows. */
  readonly tryFirst = async (): Promise<void> => {
    const store = await this.open()
    try {
      for await (const entry of await store.load()) void entry
      for (let first = 0; first < FIRST_WRITES; first += 1)
        await store.write(changesOf({ first, count: FIRST_ROWS }, () => textOf(FIRST_ROWS)))
      await store.write(changesOf({ first: FIRST_WRITES + FIRST_ROWS, count: 1 }, () => textOf(LAST_SIZE)))
    } finally {
      await store.close?.()
    }
    await this.verify()
  }

  /** Opens it again, if it was opened. */
  readonly verify = async (): Promise<void> => {
    if (this.#rows === undefined) return
    const store = await this.#open()
    try {
      await this.#read(store)
    } finally {
      await store.close?.()
    }
  }

  async #open(): Promise<KeyValueStore> {
    const store = await this.#opened()
    const problem = storeProblem(this.#options.name, store)
    assert.ok(problem === undefined, problem)
    return store
  }

  async #opened(): Promise<KeyValueStore> {
    try {
      return await this.#options.open()
    } catch (error) {
      if (this.#rows === undefined || this.#rows.size === 0) throw error
      throw new Error(
        `the store cannot be opened after writes that have resolved: ${AWAIT} (${wordsOf(error)})`,
        { cause: error },
      )
    }
  }

  async *#load(store: KeyValueStore): AsyncGenerator<readonly [string, string]> {
    yield* await this.#read(store)
  }

  async #read(store: KeyValueStore): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    for await (const [key, text] of await store.load()) found.set(key, text)
    if (this.#rows !== undefined) assertRows(found, this.#rows, "after the storage was opened again")
    this.#rows = found
    return found
  }

  async #write(store: KeyValueStore, changes: Entries): Promise<void> {
    const rows = this.#rows
    this.#rows = undefined
    await store.write(changes)
    if (rows !== undefined) apply(rows, changes)
    this.#rows = rows
  }
}
