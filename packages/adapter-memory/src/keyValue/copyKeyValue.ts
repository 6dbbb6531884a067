import { type AuditRecord, audit_subject, subjectRowsOf } from "@tocsin/core/heart/model/AuditRecord"
import { filledByStarts, numberTables } from "@tocsin/core/lists/StoredTables"
import {
  type AnyShape,
  copiedDecoder,
  type CopiedRow,
  type TableShape,
} from "@tocsin/core/kernel/model/TableShape"
import { type CopySource, type CopyTarget, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Cause, Effect, Exit, Fiber, Scope, Stream } from "effect"
import { type Entries, entryOf, readEntries } from "./entries.ts"
import {
  announceSlow,
  failure,
  type KeyValueOptions,
  openStore,
  slowWrite,
  STOP_WITHIN,
  wordsOf,
} from "./KeyValueStorage.ts"

type Rows = ReadonlyMap<string, ReadonlyArray<unknown>>

// They are read by their columns alone.
const recordsOf = (table: AnyShape) => copiedDecoder(table as TableShape<object>)

const toCopied = ({ columns }: AnyShape, record: object): CopiedRow =>
  Object.entries(columns).map(([name, { type }]) => {
    const value = (record as Readonly<Record<string, unknown>>)[name]
    if (value === undefined || value === null) return null
    if (type === "integer" || type === "long") return BigInt(Number(value))
    // Values of the other columns are those of copied rows.
    return type === "object" || type === "array" || type === "uuids"
      ? JSON.stringify(value)
      : (value as string)
  })

/** A text whose order, unit by unit, is that of its bytes in UTF-8: pairs of surrogates come after all other units. */
const inBytes = (text: string): string =>
  text.replaceAll(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0)
    return String.fromCharCode(code < FIRST_BEYOND_PAIRS ? code + SURROGATES : code - PAIRS)
  })
const FIRST_BEYOND_PAIRS = 0xe000
const SURROGATES = 0x2000
const PAIRS = 0x800

const keyed = (value: CopiedRow[number] | undefined) =>
  typeof value === "string" ? inBytes(value) : (value ?? 0n)

const compare = (a: ReturnType<typeof keyed>, b: ReturnType<typeof keyed>): number =>
  a === b ? 0 : a < b ? -1 : 1

/** The records of a table. The store has subjects of the audit within its records. */
const recordsIn = (loaded: Rows, { name }: AnyShape): ReadonlyArray<unknown> =>
  name === audit_subject.name
    ? subjectRowsOf((loaded.get("audit") ?? []) as ReadonlyArray<AuditRecord>)
    : (loaded.get(name) ?? [])

/** The rows of a table in the order of its key, as bytes. */
const rowsIn = (loaded: Rows, table: AnyShape): ReadonlyArray<CopiedRow> => {
  const places = table.key.map((name) => Object.keys(table.columns).indexOf(name))
  return recordsIn(loaded, table)
    .map((record) => {
      const row = toCopied(table, Object(record))
      return { row, key: places.map((place) => keyed(row[place])) }
    })
    .toSorted((a, b) => a.key.reduce((order, part, n) => order || compare(part, b.key[n] ?? 0n), 0))
    .map(({ row }) => row)
}

const PIECE = 1_000

const pieces = (rows: ReadonlyArray<CopiedRow>) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(rows.length / PIECE) }, (_, n) => rows.slice(n * PIECE, (n + 1) * PIECE)),
  )

/** Reads a store, which no other process may have. It has no numbers over time. */
export const withCopySource = <A, E, R>(
  options: KeyValueOptions,
  use: (source: CopySource) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, Exclude<R, Scope.Scope>> =>
  Effect.scoped(
    Effect.flatMap(openStore(options, readEntries), ({ loaded }) => {
      const [sequence] = loaded.get("sequence") ?? []
      return use({
        count: (table) => Effect.sync(() => recordsIn(loaded, table).length),
        rows: (table) => Stream.suspend(() => pieces(rowsIn(loaded, table))),
        lastSeq: Effect.succeed(BigInt(Object(sequence).seq ?? 0)),
      })
    }),
  )

const inUse = (message: string) => new StorageError({ reason: "in_use", message })

const NO_NUMBERS =
  'a key-value store keeps no numbers over time: add --without numbers to tocsin copy, or { without: "numbers" } to copyStorage'

const openApart = Effect.fnUntraced(function* (options: KeyValueOptions) {
  const scope = yield* Scope.make()
  const opened = yield* Effect.onError(Scope.provide(openStore(options, readEntries), scope), (cause) =>
    Scope.close(scope, Exit.failCause(cause)),
  )
  return { ...opened, close: Scope.close(scope, Exit.void) }
})

const deletionsOf = (keys: Iterable<string>): Entries => new Map(Array.from(keys, (key) => [key, undefined]))

/** The keys of rows that a first start left. */
const keysIn = (loaded: Rows): ReadonlyArray<string> =>
  Array.from(loaded).flatMap(([kind, rows]) => rows.flatMap((row) => entryOf(kind, Object(row))?.[0] ?? []))

/** Work that an interruption does not end: its caller waits for the end, for some seconds. */
const patiently = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(Effect.uninterruptible(work)), (fiber) =>
      Effect.onInterrupt(restore(Fiber.join(fiber)), () =>
        Effect.timeoutOption(Effect.interruptible(Fiber.await(fiber)), STOP_WITHIN),
      ),
    ),
  )

/** An empty store to fill. */
const openTarget = Effect.fnUntraced(function* (options: KeyValueOptions) {
  let opened = yield* openApart(options)
  const found = Array.from(opened.loaded.keys()).find(
    (kind) => kind !== "sequence" && !filledByStarts.has(kind),
  )
  if (found !== undefined) {
    yield* opened.close
    return yield* inUse(`${options.name} already contains data (${found}): name an empty store`)
  }
  const written = new Map<string, string>()
  /**
   * The writing of all rows: not begun; under way, so that no other write may follow; settled, whether it was kept or
   * not; and with the store closed, to be opened again.
   */
  let stage: "unwritten" | "writing" | "settled" | "closed" = "unwritten"
  const change = (entries: Entries) =>
    Effect.tryPromise({
      try: async () => opened.store.write(entries),
      catch: (cause) =>
        failure(`${options.name} rejects the copy: ${wordsOf(cause) || "see the cause"}`, cause),
    })
  const reopen = Effect.gen(function* () {
    stage = "closed"
    opened = yield* openApart(options)
    stage = "settled"
  })
  const write = Effect.gen(function* () {
    stage = "writing"
    const entries = new Map([...deletionsOf(keysIn(opened.loaded)), ...written])
    yield* Effect.ensuring(
      change(entries),
      Effect.sync(() => void (stage = "settled")),
    )
    yield* opened.close
    yield* reopen
  }).pipe(announceSlow(slowWrite(options.name)))
  const clear = Effect.gen(function* () {
    if (stage === "unwritten") return
    if (stage === "writing")
      return yield* new StorageError({
        reason: "timed_out",
        message: `a write of ${options.name} does not settle`,
      })
    // A store that could not be opened again may open by now.
    if (stage === "closed") yield* reopen
    yield* change(deletionsOf(written.keys()))
  })
  return {
    put: (name: string, record: object) => {
      const entry = entryOf(name, record)
      if (entry !== undefined) written.set(...entry)
    },
    /**
     * Writes all rows at once, the first time, and opens the store again: it returns only rows that it has kept. An
     * interruption waits some seconds: the undoing write must not begin before this one has settled.
     */
    kept: Effect.suspend(() => (stage === "unwritten" ? patiently(write) : Effect.void)).pipe(
      Effect.map(() => opened.loaded),
    ),
    undo: (failed: unknown) =>
      clear.pipe(
        Effect.mapError((cause) => {
          const isOther = failed instanceof Error && failed.message !== cause.message
          const why = isOther ? `; the copy had failed: ${failed.message}` : ""
          const message = `${options.name} may keep rows of a copy that failed: empty it before anything uses it; ${cause.message}${why}`
          return new StorageError({ reason: cause.reason, message, cause })
        }),
      ),
    close: Effect.suspend(() => opened.close),
  }
})

const targetOf = ({ kept, put }: Effect.Success<ReturnType<typeof openTarget>>): CopyTarget => ({
  asKept: (table) => {
    const toRecord = recordsOf(table)
    return (row) => toCopied(table, toRecord(row))
  },
  write: (table, rows) => {
    if (numberTables.includes(table)) return rows.length === 0 ? Effect.void : Effect.fail(inUse(NO_NUMBERS))
    return Effect.sync(() => {
      const toRecord = recordsOf(table)
      for (const row of rows) put(table.name, toRecord(row))
    })
  },
  setLastSeq: (seq) => Effect.sync(() => put("sequence", { seq: Number(seq) })),
  rows: (table) => Stream.unwrap(Effect.map(kept, (loaded) => pieces(rowsIn(loaded, table)))),
})

/**
 * Fills an empty store with the rows that `use` writes, by one write: it has all or nothing. Then opens it again to
 * read them back. If that differs, they are deleted. Fails with `in_use` where the store has data.
 */
export const withCopyTarget = <A, E, R>(
  options: KeyValueOptions,
  use: (target: CopyTarget) => Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageError, R> =>
  Effect.flatMap(openTarget(options), (store) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.exit(restore(use(targetOf(store)))), (copied) =>
        Exit.isFailure(copied) ? Effect.andThen(store.undo(Cause.squash(copied.cause)), copied) : copied,
      ),
    ).pipe(Effect.ensuring(store.close)),
  )
