import * as Instant from "@tocsin/contract/formats/Instant"
import { unknownOptions } from "@tocsin/contract/formats/nearestName"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { type Command, decideSync, type Outcome } from "@tocsin/core/kernel/unitOfWork/Decision"
import { openUnit } from "@tocsin/core/lists/openUnit"
import { Storage, StorageError, type StorageFailure } from "@tocsin/core/kernel/ports/Storage"
import type { RetentionPiece } from "@tocsin/core/lists/retention/retentionPiece"
import { Duration, Effect, Fiber, Layer, RcRef, Scope, Semaphore } from "effect"
import * as MemoryStorage from "../MemoryStorage.ts"
import type { MemoryTables } from "../MemoryTables.ts"
import { decideExpiry, removeExpired } from "../expire.ts"
import { answerFrom, persistChanges } from "../transact.ts"
import {
  changedRows,
  type Entries,
  entriesOf,
  expiredRows,
  type KeyValueFailure,
  type KeyValueStore,
  type LoadedEntries,
  loadTables,
  type RowChanges,
  rowKey,
} from "./entries.ts"

/** A key-value store, and how to open it. */
export interface KeyValueOptions {
  /** Names the store in logs; not its address. */
  readonly name: string
  /** Opens the store within 30 s, or rejects with what to do, for example if another process has it open. */
  readonly open: () => Promise<KeyValueStore>
}

const REASONS: ReadonlySet<StorageFailure> = new Set([
  "in_use",
  "full",
  "damaged",
  "read_only",
] satisfies Array<KeyValueFailure>)

/** Errors of the system that a store passes on. */
const OF_SYSTEM: ReadonlyMap<unknown, KeyValueFailure> = new Map([
  ["ENOSPC", "full"],
  ["EDQUOT", "full"],
  ["EROFS", "read_only"],
])

const reasonOf = (cause: unknown): StorageFailure => {
  const { code, reason }: { readonly code?: unknown; readonly reason?: StorageFailure } = Object(cause)
  return reason !== undefined && REASONS.has(reason) ? reason : (OF_SYSTEM.get(code) ?? "unavailable")
}

/** A failure of the store, with the reason that its error states. */
export const failure = (message: string, cause: unknown): StorageError =>
  new StorageError({ reason: reasonOf(cause), message, cause })

const OPEN_WITHIN = Duration.seconds(30)
const SLOW = Duration.seconds(5)
/** A process that stops waits so long for a store: less than the 9 s that a server has. */
export const STOP_WITHIN = Duration.seconds(8)

const unclosed = (name: string): string =>
  `close of ${name} did not settle within ${Duration.toSeconds(STOP_WITHIN)} s and is not waited for: see what it waits for; what was acknowledged is kept`

/** Opens a store. One that opens too late is closed. */
const openInTime = ({ name, open }: KeyValueOptions) =>
  Effect.tryPromise({
    try: async (signal) => {
      const store = await open()
      if (signal.aborted) await store?.close?.()
      return store
    },
    catch: (cause) => openFailure(name, cause),
  }).pipe(
    Effect.timeoutOrElse({
      duration: OPEN_WITHIN,
      orElse: () =>
        Effect.fail(
          new StorageError({
            reason: "timed_out",
            message: `open of ${name} did not settle within ${Duration.toSeconds(OPEN_WITHIN)} s: see what it waits for, such as a lock or a network`,
          }),
        ),
    }),
    // Its caller may be interrupted.
    Effect.interruptible,
  )

export const slowWrite = (name: string): string =>
  `waiting for a write of ${name} to settle: see what it waits for; no other change is kept until then`

/** Warns in the log of work that takes long. */
export const announceSlow =
  (message: string) =>
  <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Effect.forkChild(Effect.delay(Effect.logWarning(message), SLOW)), (warning) =>
      Effect.ensuring(work, Fiber.interrupt(warning)),
    )

/** Opens a store until the scope ends, and reads its entries. */
export const openStore = Effect.fnUntraced(
  function* <A>(
    options: KeyValueOptions,
    read: (entries: LoadedEntries) => Promise<A>,
  ): Effect.fn.Return<{ readonly store: KeyValueStore; readonly loaded: A }, StorageError, Scope.Scope> {
    const { name } = options
    const store = yield* Effect.acquireRelease(openInTime(options), (opened) =>
      Effect.tryPromise(async () => opened?.close?.()).pipe(
        Effect.interruptible,
        Effect.timeoutOrElse({ duration: STOP_WITHIN, orElse: () => Effect.logWarning(unclosed(name)) }),
        Effect.catchCause((cause) => Effect.logWarning(`${name} could not be closed`, cause)),
      ),
    )
    const problem = storeProblem(name, store)
    if (problem !== undefined) return yield* new StorageError({ reason: "unavailable", message: problem })
    const checked: KeyValueStore = {
      load: () => store.load(),
      write: async (changes) => requirePromise(store.write(changes)),
    }
    const loaded = yield* Effect.tryPromise({
      try: async () => read(await store.load()),
      catch: (cause) => readFailure(name, cause),
    })
    return { store: checked, loaded }
  },
  (opening, { name }) =>
    announceSlow(`waiting for ${name} to open and to give its entries: see its lock, network and size`)(
      opening,
    ),
)

/** The storage over a key-value store. Layers made by one call share one opened store. */
export const layer = (options: KeyValueOptions): Layer.Layer<Storage, StorageError> => {
  const acquire = Effect.map(openStore(options, loadTables), ({ loaded, store }) =>
    make(store, loaded, options.name),
  )
  let shared: RcRef.RcRef<Storage["Service"], StorageError> | undefined
  return Layer.effect(
    Storage,
    Effect.gen(function* () {
      // The first user's log has what becomes of the store. The scope stays open: the last user closes the store.
      shared ??= yield* Scope.provide(RcRef.make({ acquire }), Scope.makeUnsafe())
      return yield* RcRef.get(shared)
    }),
  )
}

/** The words of a store's error, which may be a text, and of its cause, which may be the error itself. */
export const wordsOf = (error: unknown): string => {
  const words = [error, Object(error).cause].map((each: unknown) => {
    const text: unknown = typeof each === "string" ? each : Object(each).message
    return typeof text === "string" ? plainLine(text).replace(/\.$/, "") : ""
  })
  return Array.from(new Set(words.filter((each) => each !== ""))).join(": ")
}

const openFailure = (name: string, cause: unknown): StorageError => {
  const words = wordsOf(cause)
  const message =
    reasonOf(cause) === "in_use"
      ? `another process has ${name}: use the console or the API there, or stop that process${words && ` (${words})`}`
      : `${name} cannot be opened: ${words || "the cause says why"}`
  return failure(message, cause)
}

/** The problem of what `open` gave, if it has one. An instance of a class may have a state in its fields. */
export const storeProblem = (name: string, given: unknown): string | undefined => {
  const store = Object(given) as Partial<KeyValueStore>
  const isPlain = Object.getPrototypeOf(store) === Object.prototype
  const [misspelt] = isPlain ? unknownOptions("", store, ["load", "write", "close"]) : []
  if (typeof store.load !== "function" || typeof store.write !== "function")
    return `open of ${name} must resolve with a store: an object with load and write${misspelt === undefined ? "" : `; ${misspelt}`}`
  return misspelt && `in the store that open of ${name} resolves with, ${misspelt}`
}

/** Refuses a write that returns before the store has the changes: a return or an await is missing. */
const requirePromise = (written: Promise<void> | undefined): Promise<void> => {
  if (written instanceof Object && "then" in written) return written
  throw new TypeError("write of a store must return a promise that resolves once the changes are kept")
}

const readFailure = (name: string, cause: unknown): StorageError =>
  failure(`the content of ${name} cannot be read: ${wordsOf(cause) || "the cause says why"}`, cause)

const inBrackets = (cause: unknown): string => {
  const words = wordsOf(cause)
  return words && ` (${words})`
}

const unsettled = (name: string, cause: unknown): StorageError =>
  new StorageError({
    reason: reasonOf(cause),
    isUnknown: true,
    message: `${name} rejected a change and may have kept it${inBrackets(cause)}: repeat the request, or start the program again, which first undoes that change`,
    cause,
  })

const notSettled = (name: string, cause: unknown): StorageError =>
  failure(
    `${name} rejects changes${inBrackets(cause)}: see the cause; once it takes them again, Tocsin first undoes the first one that it rejected`,
    cause,
  )

const make = (store: KeyValueStore, tables: MemoryTables, storeName: string): Storage["Service"] => {
  // Undoes the last write, which the store rejected and may have kept.
  let undoing: Entries | undefined
  const settle = Effect.suspend(() => {
    if (undoing === undefined) return Effect.void
    return Effect.tryPromise({
      try: async () => store.write(undoing ?? new Map()),
      catch: (cause) => notSettled(storeName, cause),
    }).pipe(Effect.tap(() => Effect.sync(() => void (undoing = undefined))))
  })
  let writingSince: Instant.Instant | undefined
  const keep = Effect.fnUntraced(
    function* (changes: RowChanges) {
      writingSince = yield* Instant.now
      yield* settle
      yield* Effect.tryPromise({
        try: async () => store.write(entriesOf(changes, "after")),
        catch: (cause) => {
          undoing = entriesOf(changes, "before")
          return unsettled(storeName, cause)
        },
      })
    },
    Effect.ensuring(Effect.sync(() => void (writingSince = undefined))),
    announceSlow(slowWrite(storeName)),
  )
  // Most commands that repeat a result change nothing.
  const write = (changes: RowChanges) => (changes.size === 0 ? Effect.void : keep(changes))
  const probe = Effect.flatMap(Instant.now, (now) =>
    writingSince === undefined || now < Instant.plus(writingSince, SLOW)
      ? Effect.void
      : Effect.fail(new StorageError({ reason: "timed_out", message: slowWrite(storeName) })),
  )
  const inTurn = Semaphore.makeUnsafe(1).withPermits(1)
  // Reads see a change once the store has kept it.
  const memory = MemoryStorage.make(tables)

  const transact = Effect.fnUntraced(function* <A>(command: Command<Outcome<A>>) {
    const now = yield* Instant.now
    const unit = openUnit()
    const outcome = decideSync(command(unit, now), (step) => answerFrom(tables, unit, step, now))
    const changes = unit.changes()
    yield* write(changedRows(tables, changes))
    persistChanges(tables, changes)
    return outcome.committed()
  }, Effect.uninterruptible)

  const expire = Effect.fnUntraced(function* (piece: RetentionPiece) {
    const { result, expired } = decideExpiry(tables, piece)
    yield* write(expiredRows(expired))
    removeExpired(expired)
    return result
  }, Effect.uninterruptible)

  return Storage.of({
    ...memory,
    probe,
    transact: (command) => inTurn(transact(command)),
    expire: (piece) => inTurn(expire(piece)),
    establish: (name, value) =>
      inTurn(
        Effect.suspend(() => {
          const kept = tables.established.get(name)
          if (kept !== undefined) return Effect.succeed(kept)
          const change = { before: undefined, after: { name, value } }
          return Effect.andThen(
            write(new Map([[rowKey("established", { name }), change]])),
            memory.establish(name, value),
          )
        }),
      ),
  })
}
