import type { Instant } from "@tocsin/contract/formats/Instant"
import { type Command, likewise, type Outcome } from "@tocsin/core/kernel/unitOfWork/Decision"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { Ids } from "@tocsin/core/kernel/ports/Ids"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { assertSame } from "@tocsin/testing/assertSame"
import { listNames } from "@tocsin/core/lists/ListDefinitions"
import { rowsOf } from "@tocsin/testing/rowsOf"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

/** A command that changed something in memory. */
interface Recorded {
  readonly number: number
  readonly at: Instant
  readonly command: Command<Outcome<unknown>>
  readonly reply: unknown
  readonly storageTime: Instant | undefined
}

const DRAWS_OF_A_COMMAND = 10_000

/** IDs that depend on the command and the clock alone, so that a repeated command draws the same. */
const makeIds = () => {
  let drawn = 0
  const next = () => (drawn += 1).toString(16).padStart(12, "0")
  return {
    begin: (command: number) => {
      drawn = command * DRAWS_OF_A_COMMAND
    },
    ids: Ids.of({
      uuidV7: (now) => {
        const time = (now / 1_000n).toString(16).padStart(12, "0")
        return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${next()}`
      },
      secret: () => next().padStart(43, "0"),
    }),
  }
}

const hasStorageTime = (found: unknown): found is { readonly storageTime: Instant } =>
  typeof found === "object" && found !== null && "storageTime" in found

/** Records what all processes of a service do to a storage in memory, to be repeated on another one. */
export const record = () => {
  const memory = MemoryStorage.make(new MemoryTables())
  const { begin, ids } = makeIds()
  const recorded: Array<Recorded> = []
  let commands = 0
  let isOver = false

  const storage = Storage.of({
    ...memory,
    transact: (command) =>
      Effect.suspend(() => {
        if (isOver) return Effect.never
        const number = (commands += 1)
        let decided: Pick<Recorded, "at" | "storageTime"> | undefined
        const timed = likewise(command, function* (unit, at) {
          begin(number)
          let storageTime: Instant | undefined
          const decision = command(unit, at)
          let step = decision.next()
          while (step.done !== true) {
            const found = yield step.value
            if (hasStorageTime(found)) ({ storageTime } = found)
            step = decision.next(found)
          }
          if (step.value.changes.isWrite) decided = { at, storageTime }
          return step.value
        })
        return Effect.tap(memory.transact(timed), (reply) =>
          Effect.sync(() => {
            if (decided !== undefined) recorded.push({ number, command, reply, ...decided })
          }),
        )
      }),
  })

  /** Repeats all that changed something. Asserts equal replies, and equal rows at the end. */
  const repeatOn = Effect.fnUntraced(function* (other: Storage["Service"]) {
    // The repeated commands report to the processes that gave them.
    isOver = true
    for (const { at, command, number, reply, storageTime } of recorded) {
      yield* TestClock.setTime(Number(at / 1_000n))
      const again = likewise(command, function* (unit, now) {
        begin(number)
        const decision = command(unit, now)
        let step = decision.next()
        while (step.done !== true) {
          const found = yield step.value
          // Leases go by the clock of the storage, which no test moves.
          step = decision.next(hasStorageTime(found) ? { ...found, storageTime } : found)
        }
        return step.value
      })
      const repeated = yield* other.transact(again)
      assertSame(repeated, reply, `the reply to command ${number}`)
    }
    for (const list of listNames) {
      const [found, expected] = yield* Effect.all([
        rowsOf({ storage: other }, list),
        rowsOf({ storage }, list),
      ])
      assertSame(found.map(withoutNumber), expected.map(withoutNumber), list)
    }
  })

  return { storage, ids, repeatOn }
}

/** Storages number what they store. An emptied database continues where it was. */
const withoutNumber = (row: object): object =>
  Object.fromEntries(Object.entries(row).filter(([field]) => field !== "seq"))
