import type { Entries, KeyValueStore } from "@tocsin/adapter-memory/keyValue/entries"
import { apply, assertRows } from "./rows.ts"

/** A store that must have the same entries whenever it is opened again. */
export class ReopenedStore {
  readonly #open: () => Promise<KeyValueStore>
  /** The acknowledged entries; unknown before it is opened, and after it rejected a write. */
  #rows: Map<string, string> | undefined

  constructor(open: () => Promise<KeyValueStore>) {
    this.#open = open
  }

  readonly open = async (): Promise<KeyValueStore> => {
    const store = await this.#open()
    return {
      load: () => this.#load(store),
      write: async (changes) => this.#write(store, changes),
      close: async () => store.close?.(),
    }
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
