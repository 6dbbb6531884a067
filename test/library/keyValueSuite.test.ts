import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { openReplica } from "@tocsin/testing/Replica"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { Cause, Effect, Exit } from "effect"
import { keyValue } from "tocsin"
import { keyValueSuite } from "tocsin/testing"
import { storageUnderTest } from "tocsin/testing/storage"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import * as faultyStores from "./stores/faultyStores.ts"
import { failureOf, testsOf } from "./suiteTests.ts"

const stores = { ...faultyStores }

// Processes that need not strip types start in a third of the time.
const compiled = mkdtempSync(join(tmpdir(), "tocsin-stores-"))
const module = join(compiled, "faultyStores.mjs")
writeFileSync(
  module,
  stripTypeScriptTypes(readFileSync(new URL("stores/faultyStores.ts", import.meta.url), "utf8")),
)
afterAll(() => rm(compiled, { recursive: true }))

const subjectOf = (store: keyof typeof stores) => ({
  module: pathToFileURL(module).href,
  export: store,
  place: () => mkdtemp(join(tmpdir(), "tocsin-store-")),
  remove: (folder: string) => rm(folder, { recursive: true }),
})

const bytes = "gives back keys and texts byte for byte"
const tick = "takes a write in the tick in which another one ends"
const acknowledged = "keeps a write of a process that is killed in the tick"
const torn = "keeps all of a large write or nothing"
const second = "refuses a second process"
const rejected = "takes a write after a rejected one"

/** The test that sees each fault. */
const seenBy: Readonly<Record<Exclude<keyof typeof stores, "good" | "queued">, string>> = {
  fireAndForget: acknowledged,
  awaitsSmallWrites: acknowledged,
  writesLater: acknowledged,
  writesAtTheNextWrite: acknowledged,
  writesWhenItCloses: acknowledged,
  losesLast: bytes,
  notAtomic: torn,
  deletesAfterwards: torn,
  writesInChunks: torn,
  largeTextsFirst: torn,
  lowerCaseKeys: bytes,
  normalizedKeys: bytes,
  shortKeys: bytes,
  decodedKeys: bytes,
  lossyText: bytes,
  latinText: bytes,
  withoutMarks: bytes,
  shortText: bytes,
  replacedText: bytes,
  dropsDeletes: bytes,
  emptiesInsteadOfDeleting: bytes,
  refusesAbsentKeys: bytes,
  deletesTwins: bytes,
  noLock: second,
  locksForever: second,
  waitsForTheLock: second,
  breaksTheLock: second,
  emptiesBeforeItLocks: second,
  blamesTheFile: second,
  noClose: acknowledged,
  closesNever: bytes,
  busyUntilTheNextTick: tick,
  joinsTheWriteBefore: tick,
  dropsAWriteInTheTick: tick,
  brokenQueue: rejected,
  stuckQueue: rejected,
  dropsTheNextWrite: rejected,
  keepsAPart: rejected,
}

/** It takes as long as the suite waits. */
const HANGING = new Set(["waitsForTheLock", "closesNever", "stuckQueue"])
const isRun = (store: string): boolean => AT_LENGTH || !HANGING.has(store)

keyValueSuite({ describe, it }, subjectOf("good"))

describe.skipIf(!AT_LENGTH)(`the JSON file of the page on storages${unlessAtLength}`, () => {
  it("passes all tests but that of its lock, which it lacks", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tocsin-store-"))
    const [, program = ""] =
      /```ts name=jsonFile.ts\n([^]*?)```/.exec(await readFile("docs/writing-a-storage.md", "utf8")) ?? []
    const module = join(folder, "jsonFile.ts")
    await writeFile(
      module,
      program.replace(/import \{ keyValue.*/, "const keyValue = (options: object) => options"),
    )
    const place = () => join(folder, `${crypto.randomUUID()}.json`)
    const failed: Array<string> = []
    const subject = { module: `file://${module}`, export: "jsonFile", place }
    for (const [name, test] of testsOf((runner) => keyValueSuite(runner, subject)))
      await test().catch(() => failed.push(name))
    await rm(folder, { recursive: true })
    assert.deepStrictEqual(failed, ["refuses a second process until the first is killed"])
  })
})
if (AT_LENGTH) keyValueSuite({ describe, it }, subjectOf("queued"))

describe("a test of a storage", () => {
  const subjectWith = (store: keyof typeof stores) =>
    storageUnderTest({
      ...subjectOf(store),
      name: store,
      make: subjectOf(store).place,
      storage: (folder) => keyValue(stores[store](folder)),
    })
  const registered = (store: keyof typeof stores) =>
    Effect.flatMap(openReplica(subjectWith(store)), ({ ingest }) =>
      ingest.heartbeat(keyOf("a"), heartbeatOf("a", { hostname: "cafe\u0301" })),
    )

  it.effect("fails if the storage has other rows when it is opened again", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(registered("good"))
      const failed = yield* Effect.exit(Effect.scoped(registered("lossyText")))
      assert.include(Exit.isFailure(failed) ? Cause.pretty(failed.cause) : "", "1 of 2 keys are wrong")
    }),
  )

  it.each(["fireAndForget", "writesLater", "awaitsSmallWrites"] as const)(
    "is not run where %s: one failure says which await lacks",
    async (store) => {
      const failure = await subjectWith(store)
        .tryFirst?.()
        .catch((error: unknown) => error)
      assert.match(
        String(failure),
        /: the store lacks rows whose write has resolved: await each step in write/,
      )
      assert.isBelow(String(failure).length, 1_000)
    },
  )

  it("is run on a store that keeps what it acknowledges", async () => {
    await subjectWith("good").tryFirst?.()
  })

  it("refuses a misspelt field of a store", async () => {
    const open = async () => ({ load: () => [], write: async () => {}, clsoe: async () => {} })
    const subject = storageUnderTest({
      ...subjectOf("good"),
      make: () => "",
      remove: () => {},
      name: "",
      storage: () => keyValue({ name: "a map", open }),
    })
    const failure = await subject.tryFirst?.().catch((error: unknown) => error)
    assert.include(
      String(failure),
      "in the store that open of a map resolves with, clsoe is not an option; did you mean close?",
    )
  })
})

describe("the suite of key-value stores", () => {
  it.each(["./store.mjs", "level-store"])("refuses the module %s", (given) => {
    assert.throws(
      () => testsOf((runner) => keyValueSuite(runner, { ...subjectOf("good"), module: given })),
      'module must be a file: URL, as in new URL("./store.mjs", import.meta.url).href',
    )
  })

  it.each(Object.entries(seenBy).filter(([store]) => isRun(store)))(
    "sees %s",
    async (store, name) => {
      const subject = subjectOf(store as keyof typeof stores)
      const failure = await failureOf(
        testsOf((runner) => keyValueSuite(runner, subject)),
        name,
      )
      assert.instanceOf(failure, Error)
      // Not that a process could not be started.
      assert.notMatch(failure.message, /ENOENT|SyntaxError/)
    },
    60_000,
  )
})
