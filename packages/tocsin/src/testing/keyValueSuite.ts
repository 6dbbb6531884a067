import assert from "node:assert/strict"
import process from "node:process"
import type { Entries } from "@tocsin/adapter-memory/keyValue/entries"
import { TocsinError } from "../TocsinError.ts"
import type { TestRunner } from "./TestRunner.ts"
import { after, assertRows, changesOf, isAlike, type Rows, stateOf, textOf } from "./stores/rows.ts"
import type { StoreProcess } from "./stores/StoreProcess.ts"
import { type StoreUnderTest, StoreTrial } from "./stores/StoreTrial.ts"
import { difficultRows } from "./stores/difficultRows.ts"

export type { StoreUnderTest }

/** Of one test. The suite takes less than a minute. */
const TIMEOUT_MILLIS = 60_000

/**
 * Tests of the promises of a key-value store that its storage suite cannot see, because Tocsin reads a store
 * only at the start. Other processes open it too, and are killed.
 *
 * @example
 * ```ts
 * import { mkdtemp, rm } from "node:fs/promises"
 * import { tmpdir } from "node:os"
 * import { join } from "node:path"
 * import { describe, it } from "vitest"
 * import { keyValueSuite } from "tocsin/testing"
 *
 * keyValueSuite({ describe, it }, {
 *   module: new URL("../src/level.ts", import.meta.url).href,
 *   export: "level",
 *   place: () => mkdtemp(join(tmpdir(), "level-")),
 *   remove: (folder) => rm(folder, { recursive: true }),
 * })
 * ```
 */
export const keyValueSuite = ({ describe, it }: TestRunner, subject: StoreUnderTest): void => {
  if (!String(subject.module).startsWith("file:"))
    throw new TocsinError(
      "options",
      'module must be a file: URL, as in new URL("./store.mjs", import.meta.url).href',
    )
  describe(`key-value store: ${subject.export}`, () => {
    for (const [name, body] of Object.entries(trials))
      it(name, () => StoreTrial.run(subject, body), TIMEOUT_MILLIS)
  })
}

const SMALL = 200
const MANY = 500
const LARGE = 1_048_576
/** Texts that exceed the limit of a process together. */
const TOO_MANY = 48
const SIXTEENTH = LARGE / 16

const oneRow = (row: number): Entries => changesOf({ first: row, count: 1 }, () => textOf(SMALL))

/** Changes of several sizes, each of new rows or over earlier ones. */
const acknowledged = (): ReadonlyArray<Entries> => [
  changesOf({ count: 1 }, () => textOf(SMALL)),
  changesOf({ count: MANY }, () => textOf(SMALL)),
  changesOf({ count: MANY }, (row) => (row % 2 === 0 ? undefined : textOf(SMALL))),
  changesOf({ first: MANY, count: 1 }, () => textOf(LARGE)),
  changesOf({ first: MANY, count: 1 }, () => undefined),
  changesOf({ count: 2 }, () => textOf(SMALL)),
]

/** How many times a process is killed within a large write, at moments spread over it. */
const KILLS = 8
/** Rows of a large write: the first number of them that takes long enough to be killed in between. */
const LARGE_WRITES = [500, 2_000, 8_000]
const LONG_ENOUGH_MILLIS = 5
const NANOS_PER_MILLI = 1e6

const millisNow = (): number => Number(process.hrtime.bigint()) / NANOS_PER_MILLI

/** Waits more exactly than a timer. */
const pause = async (millis: number): Promise<void> => {
  const end = millisNow() + millis
  while (millisNow() < end) await new Promise((resolve) => setImmediate(resolve))
}

/** Changes of so many rows, small and large ones; another third is deleted each time. */
const largeWrite = (count: number, number: number): Entries =>
  changesOf({ count }, (row) => {
    if ((row + number) % 3 === 0) return undefined
    return textOf(row % 10 === 0 ? 5 * SMALL : SMALL)
  })

/** A large write: how many rows it has, how long it takes, and how often the store waits for something. */
interface LargeWrite {
  readonly count: number
  readonly millis: number
  readonly steps: number
}

/** Fills the store, and finds a write that is large enough. */
const measure = async (trial: StoreTrial): Promise<LargeWrite & { readonly rows: Rows }> => {
  const child = await trial.start()
  let rows: Rows = new Map()
  let found: LargeWrite = { count: 0, millis: 0, steps: 0 }
  for (const count of LARGE_WRITES) {
    const changes = largeWrite(count, 0)
    child.write([changes])
    await child.hear("begins")
    const start = millisNow()
    const steps = Number(await child.hear("kept"))
    found = { count, millis: millisNow() - start, steps }
    rows = after(rows, changes)
    if (found.millis >= LONG_ENOUGH_MILLIS) break
  }
  child.finish()
  await child.hear("closed")
  await child.ended()
  return { rows, ...found }
}

const trials: Readonly<Record<string, (trial: StoreTrial) => Promise<void>>> = {
  "gives back keys and texts byte for byte, up to their bounds": async (trial) => {
    let rows: Rows = new Map()
    for (const { changes, name } of difficultRows()) {
      const opened = await trial.open()
      assertRows(opened.entries, rows, `before ${name}`)
      await opened.write(changes)
      rows = after(rows, changes)
      await opened.close()
      assertRows(await trial.read(), rows, `after ${name}, opened again`)
    }
  },

  "takes a write in the tick in which another one ends": async (trial) => {
    const opened = await trial.open()
    let rows: Rows = new Map()
    const steps = Array.from({ length: 40 }, (_, step) =>
      changesOf({ first: step, count: 3 }, (row) => (row % 3 === step % 3 ? undefined : textOf(SMALL))),
    )
    const writeFrom = (step: number): Promise<void> => {
      const changes = steps[step]
      if (changes === undefined) return Promise.resolve()
      rows = after(rows, changes)
      return Promise.resolve(opened.store.write(changes)).then(() => writeFrom(step + 1))
    }
    await writeFrom(0)
    await opened.close()
    assertRows(await trial.read(), rows, "after writes one behind another")
  },

  "keeps a write of a process that is killed in the tick in which it resolves": async (trial) => {
    let rows: Rows = new Map()
    for (const [round, changes] of acknowledged().entries()) {
      const before = oneRow(LARGE + round)
      const child = await trial.start()
      await child.writeLast([before, changes])
      rows = after(after(rows, before), changes)
      assertRows(await trial.read(), rows, "after a process was killed as its write resolved")
    }
  },

  "keeps all of a large write or nothing, whenever its process is killed": async (trial) => {
    const { count, millis, rows: written, steps } = await measure(trial)
    let rows = written
    let kept = 0
    /** Has a process killed within its write; whether the write was kept. */
    const killed = async (when: string, kill: (child: StoreProcess, next: Entries) => Promise<void>) => {
      // It deletes rows that the last one that was kept put.
      const next = largeWrite(count, kept + 1)
      await kill(await trial.start(), next)
      const before = rows
      const states = [before, after(before, next)] as const
      rows = stateOf(await trial.read(), states, `killed ${when} a write of ${count} keys began`)
      const isKept = rows !== before
      if (isKept) kept += 1
      return isKept
    }
    // A store that does several things one after another is torn from a step of the first to one of the last.
    for (let [from, to] = [0, steps]; to - from > 1;) {
      const step = Math.floor((from + to) / 2)
      const isKept = await killed(`at step ${step} of ${steps} after`, (child, next) =>
        child.writeLast([next], step),
      )
      if (isKept) to = step
      else from = step
    }
    for (let kill = 0; kill < KILLS; kill += 1) {
      const delay = (kill / KILLS) * millis
      await killed(`${delay.toFixed(1)} ms after`, async (child, next) => {
        child.write([next])
        await child.hear("begins")
        await pause(delay)
        await child.kill()
      })
    }
  },

  "refuses a second process until the first is killed": async (trial) => {
    const first = await trial.start()
    const [before, later] = [oneRow(0), oneRow(1)]
    first.write([before])
    await first.hear("begins")
    await first.hear("kept")
    for (const attempt of ["a second", "a third"]) {
      const reason = await trial.open().then(
        () =>
          assert.fail(`open resolved in ${attempt} process: it must reject while another one has the store`),
        (error: unknown) => {
          if (error instanceof assert.AssertionError) throw error
          return Object(error).reason
        },
      )
      assert.ok(
        reason === undefined || reason === "in_use",
        `open rejected in ${attempt} process with the reason ${reason}: it must be "in_use", or absent`,
      )
    }
    first.write([later])
    await first.hear("begins")
    await first.hear("kept")
    await first.kill()
    const rows = after(after(new Map(), before), later)
    assertRows(await trial.read(), rows, "after the first process was killed")
  },

  "takes a write after a rejected one": async (trial) => {
    // The limit is a shell's.
    if (process.platform === "win32") return
    const first = oneRow(0)
    const tooLarge = changesOf({ first: 1, count: TOO_MANY }, () => textOf(SIXTEENTH))
    const undone = changesOf({ first: 1, count: TOO_MANY }, () => undefined)
    const [behind, last] = [oneRow(LARGE + 1), oneRow(LARGE)]
    const child = await trial.start(true)
    // A store that needs large files cannot be tried in this way.
    if ((await child.next("the end of open and load"))?.[0] !== "open") return
    const writes = [first, tooLarge, behind, undone, last]
    child.write(writes)
    let rows: ReadonlyArray<Rows> = [new Map()]
    for (const changes of writes) {
      await child.hear("begins")
      const [end, text] = (await child.next()) ?? ["ended"]
      assert.notEqual(
        end,
        "repeated",
        `write rejects with the error of an earlier write, without a try: ${text}`,
      )
      assert.ok(end === "kept" || end === "rejected", `the process ${end} after a write was rejected`)
      // A rejected write may have been kept.
      rows = rows.flatMap((each) => (end === "kept" ? [after(each, changes)] : [each, after(each, changes)]))
    }
    child.finish()
    await child.ended()
    const found = await trial.read()
    assert.ok(
      rows.some((each) => isAlike(found, each)),
      "after a rejected write, the store has neither what it acknowledged nor what it could have kept",
    )
    const opened = await trial.open()
    await opened.write(undone)
    await opened.close()
    assertRows(await trial.read(), after(found, undone), "after the former values were restored")
  },
}
