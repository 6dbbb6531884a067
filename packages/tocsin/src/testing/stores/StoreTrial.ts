import assert from "node:assert/strict"
import type { Entries, KeyValueStore } from "@tocsin/adapter-memory/keyValue/entries"
import { type KeyValueOptions, storeProblem } from "@tocsin/adapter-memory/keyValue/KeyValueStorage"
import { within } from "@tocsin/reporting/program/Platform"
import type { StorageChoice } from "../../storages/storages.ts"
import { type StoreModule, StoreProcess } from "./StoreProcess.ts"

/** A store as its suite needs it. Child processes make it from the same module. */
export interface StoreUnderTest extends StoreModule {
  /** Names a place with nothing in it, such as a folder: the function makes the store from this text. */
  readonly place: () => Promise<string> | string
  /** Removes the place with all that is in it. */
  readonly remove?: (place: string) => Promise<void> | void
}

/** A busy machine is slow to open a file. */
const PATIENCE_MILLIS = 15_000

/** Refuses to wait for ever. */
const inTime = async <A>(call: string, promise: Promise<A> | A): Promise<A> => {
  const outcome = await within(PATIENCE_MILLIS, Promise.resolve(promise))
  return outcome === "late"
    ? assert.fail(`${call} did not settle within ${PATIENCE_MILLIS / 1_000} s`)
    : outcome
}

const optionsOf = (made: StorageChoice | KeyValueOptions, name: string): KeyValueOptions => {
  const options = "options" in made ? made.options : made
  if ("open" in options) return options
  return assert.fail(`${name} must return keyValue(…), or an object { name, open }`)
}

export class OpenedStore {
  readonly store: KeyValueStore
  readonly entries: ReadonlyMap<string, string>
  readonly #closed: () => void

  constructor(store: KeyValueStore, entries: ReadonlyMap<string, string>, closed: () => void) {
    this.store = store
    this.entries = entries
    this.#closed = closed
  }

  async write(changes: Entries): Promise<void> {
    await inTime("write", this.store.write(changes))
  }

  async close(): Promise<void> {
    this.#closed()
    await inTime("close", this.store.close?.())
  }
}

/** One test at its own place. It closes and kills what it opened. */
export class StoreTrial {
  readonly #subject: StoreUnderTest
  readonly #place: string
  readonly #opened = new Set<OpenedStore>()
  readonly #processes: Array<StoreProcess> = []

  private constructor(subject: StoreUnderTest, place: string) {
    this.#subject = subject
    this.#place = place
  }

  static async run(subject: StoreUnderTest, body: (trial: StoreTrial) => Promise<void>): Promise<void> {
    const place = await subject.place()
    const trial = new StoreTrial(subject, place)
    try {
      await body(trial)
    } finally {
      await Promise.allSettled(Array.from(trial.#opened, (store) => store.close()))
      await Promise.allSettled(trial.#processes.map((child) => child.kill()))
      await subject.remove?.(place)
    }
  }

  /** Opens the store in this process. */
  async open(): Promise<OpenedStore> {
    const { module, export: name } = this.#subject
    const { [name]: make }: Record<string, unknown> = await import(/* @vite-ignore */ module)
    if (typeof make !== "function") return assert.fail(`${module} exports no function ${name}`)
    const { open } = optionsOf(await make(this.#place), name)
    const opening = open()
    const store = await inTime("open", opening).catch((error: unknown) => {
      // It may still open.
      void Promise.resolve(opening)
        .then((late) => late.close?.())
        .catch(() => {})
      throw error
    })
    const problem = storeProblem(name, store)
    assert.ok(problem === undefined, problem)
    const opened: OpenedStore = new OpenedStore(store, await entriesIn(store), () =>
      this.#opened.delete(opened),
    )
    this.#opened.add(opened)
    return opened
  }

  /** The entries, of the store opened in this process and closed again. */
  async read(): Promise<ReadonlyMap<string, string>> {
    const opened = await this.open()
    await opened.close()
    return opened.entries
  }

  /** Starts another process, which opens the store; `undefined` if it cannot with a limit on files. */
  async start(isLimited = false): Promise<StoreProcess> {
    const started = StoreProcess.start(this.#subject, this.#place, isLimited)
    this.#processes.push(started)
    if (!isLimited) await started.hear("open")
    return started
  }
}

const entriesIn = async (store: KeyValueStore): Promise<ReadonlyMap<string, string>> => {
  const entries = new Map<string, string>()
  for await (const [key, value] of await store.load()) {
    assert.ok(!entries.has(key), `load gives the key ${JSON.stringify(key)} twice`)
    entries.set(key, value)
  }
  return entries
}
