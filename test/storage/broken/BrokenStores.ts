import { Storage } from "@tocsin/core/kernel/ports/Storage"
import * as KeyValueStorage from "@tocsin/adapter-memory/keyValue/KeyValueStorage"
import type { Entries, KeyValueStore } from "@tocsin/adapter-memory/keyValue/entries"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Context, Effect, Layer } from "effect"

/** The texts that a store keeps while it is closed. */
type Texts = Map<string, string>

const put = (texts: Texts, changes: Iterable<readonly [string, string | undefined]>): void => {
  for (const [key, text] of changes) {
    if (text === undefined) texts.delete(key)
    else texts.set(key, text)
  }
}

/** A store that keeps its promises. */
const goodStore = (texts: Texts): KeyValueStore => ({
  load: () => Array.from(texts),
  write: (changes) => {
    put(texts, changes)
    return Promise.resolve()
  },
})

/** Changes what a good store is given to write. */
const writing =
  (change: (changes: Entries, texts: Texts) => Iterable<readonly [string, string | undefined]>) =>
  (texts: Texts): KeyValueStore => ({
    ...goodStore(texts),
    write: (changes) => {
      put(texts, Array.from(change(changes, texts)))
      return Promise.resolve()
    },
  })

/** Changes what a good store has loaded. */
const loading =
  (change: (texts: ReadonlyArray<readonly [string, string]>) => Iterable<readonly [string, string]>) =>
  (texts: Texts): KeyValueStore => ({ ...goodStore(texts), load: () => change(Array.from(texts)) })

const rewritten =
  (key: (key: string) => string, text: (text: string) => string) =>
  (changes: Entries): Iterable<readonly [string, string | undefined]> =>
    Array.from(changes, ([name, value]) => [key(name), value === undefined ? value : text(value)] as const)

const same = (text: string): string => text
const KEY_LENGTH = 120
const LARGE = 900
const MANY = 100

const losesLastWrite = (texts: Texts): KeyValueStore => {
  let last: Entries = new Map()
  return {
    load: () => Array.from(texts),
    write: (changes) => {
      put(texts, last)
      last = changes
      return Promise.resolve()
    },
  }
}

/** Stores that break a promise, by what they do. */
const BROKEN_STORES: Readonly<Record<string, (texts: Texts) => KeyValueStore>> = {
  "writes nothing": writing(() => []),
  "ignores deletions": writing((changes) => Array.from(changes).filter(([, text]) => text !== undefined)),
  "forgets when it is opened again": loading(() => []),
  "loses the last write before it is closed": losesLastWrite,
  "keeps the first text of a key": writing((changes, texts) =>
    Array.from(changes).filter(([key, text]) => text === undefined || !texts.has(key)),
  ),
  "cuts long texts": writing(rewritten(same, (text) => text.replaceAll(/x{1000,}/g, "x"))),
  "cuts keys": writing(rewritten((key) => key.slice(0, KEY_LENGTH), same)),
  "ignores the case of keys": writing(rewritten((key) => key.toLowerCase(), same)),
  "keeps Latin-1 only": writing(rewritten(same, (text) => Buffer.from(text, "latin1").toString("latin1"))),
  "makes the first change of several only": writing((changes) => Array.from(changes).slice(0, 1)),
  "makes the first hundred changes only": writing((changes) => Array.from(changes).slice(0, MANY)),
  "makes the first 900 changes only": writing((changes) => Array.from(changes).slice(0, LARGE)),
  "swaps two texts of one write": writing((changes) => {
    const entries = Array.from(changes)
    const [first, second] = entries
    const isPair = first?.[1] !== undefined && second?.[1] !== undefined
    return isPair ? [[first[0], second[1]], [second[0], first[1]], ...entries.slice(2)] : entries
  }),
  "loses one row when it is opened": loading((texts) => texts.slice(1)),
  "deletes too much": writing((changes, texts) =>
    Array.from(changes).flatMap(([key, text]) =>
      text === undefined
        ? Array.from(
            texts.keys(),
            (name) => [name, name.startsWith(key.slice(0, 8)) ? text : texts.get(name)] as const,
          )
        : [[key, text] as const],
    ),
  ),
}

/** Layers over a good storage that break a promise of the port, by what they do. */
const BROKEN_STORAGES: Readonly<Record<string, (storage: Storage["Service"]) => Storage["Service"]>> = {
  "returns the first page again after a write": (storage) => {
    const pages = new Map<string, unknown>()
    const keyOf = (request: object) =>
      JSON.stringify(request, (_, value) => (typeof value === "bigint" ? `${value}` : value))
    const page = ((request: Parameters<typeof storage.page>[0]) => {
      const known = pages.get(keyOf(request))
      if (known !== undefined) return Effect.succeed(known)
      return Effect.tap(storage.page(request), (rows) => Effect.sync(() => pages.set(keyOf(request), rows)))
      // A page has the rows of its list, which the request names.
    }) as typeof storage.page
    return { ...storage, page }
  },
  "replaces an established value": (storage) => ({
    ...storage,
    establish: (_, value) => Effect.succeed(value),
  }),
  "removes nothing": (storage) => ({
    ...storage,
    expire: () => Effect.succeed({ removed: 0, after: undefined, isMore: false }),
  }),
  "lists rows in reverse": (storage) => {
    const page = ((request: Parameters<typeof storage.page>[0]) =>
      Effect.map(storage.page(request), (rows) => rows.toReversed())) as typeof storage.page
    return { ...storage, page }
  },
}

/** The place of a test: the storage over its texts. */
class Place extends Context.Service<Place, { readonly layer: Layer.Layer<Storage, unknown> }>()(
  "@tocsin/test/storage/broken/Place",
) {}

const subjectOf = (
  name: string,
  store: (texts: Texts) => KeyValueStore,
  change: (storage: Storage["Service"]) => Storage["Service"] = (storage) => storage,
): StorageUnderTest<Place> => ({
  name,
  place: Layer.sync(Place, () => {
    const texts: Texts = new Map()
    return { layer: KeyValueStorage.layer({ name, open: () => Promise.resolve(store(texts)) }) }
  }),
  client: Layer.unwrap(
    Effect.map(Place, ({ layer }) =>
      Layer.effect(Storage, Effect.map(Storage, change)).pipe(Layer.provide(layer)),
    ),
  ),
  noHints: "a key-value store gives none",
})

/** A storage that the suite must pass: any order of entries is right. */
export const GOOD: StorageUnderTest<Place> = subjectOf(
  "good",
  loading((texts) => texts.toReversed()),
)

/** Storages that it must fail. */
export const BROKEN: ReadonlyArray<StorageUnderTest<Place>> = [
  ...Object.entries(BROKEN_STORES).map(([name, store]) => subjectOf(name, store)),
  ...Object.entries(BROKEN_STORAGES).map(([name, change]) => subjectOf(name, goodStore, change)),
]
