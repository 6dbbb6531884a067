import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync, copyFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { Storage, type StorageError } from "@tocsin/core/kernel/ports/Storage"
import { forAll, PROPERTY_TIMEOUT_MILLIS } from "@tocsin/testing/forAll"
import { agentRecord } from "@tocsin/testing/records"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Layer, Result, Scope } from "effect"
import * as fc from "fast-check"
import { seeded } from "../processes/seeded.ts"
import { FailingDisk } from "./FailingDisk.ts"
import { transact } from "@tocsin/testing/transact"

const RUNS = 20
const LONGEST = 25
const PATIENCE = Duration.seconds(20)

const SIMPLE = ["complete", "foreign checkpoint", "foreign commit", "reader", "restart", "alternate"] as const

/** The possible events of a database and its disk. */
type Action =
  | { readonly action: "commit"; readonly count: number }
  | { readonly action: (typeof SIMPLE)[number] }
  | { readonly action: "fail" | "lose power"; readonly share: number }

const share = fc.constantFrom(0, 0.2, 0.8, 1)

const commit = fc.record({ action: fc.constant("commit" as const), count: fc.integer({ min: 1, max: 3 }) })
const arbitraryAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: commit },
  { weight: 3, arbitrary: fc.constant<Action>({ action: "complete" }) },
  { weight: 5, arbitrary: fc.record({ action: fc.constantFrom(...SIMPLE) }) },
  { weight: 1, arbitrary: fc.record({ action: fc.constant("fail" as const), share }) },
  { weight: 2, arbitrary: fc.record({ action: fc.constant("lose power" as const), share }) },
)

const arbitraryScenario = fc.record({
  seed: fc.integer(),
  actions: fc.array(arbitraryAction, { minLength: 5, maxLength: LONGEST, size: "max" }),
  /**
   * Whether Tocsin's checkpoints shorten the log; pages that a system loses may then be in the file
   * already.
   */
  isKeptShort: fc.boolean(),
})

const turn: Effect.Effect<void> = Effect.callback((resume) => {
  setTimeout(() => resume(Effect.void), 1)
})

const until = <E>(holds: Effect.Effect<boolean, E>): Effect.Effect<void, E> =>
  Effect.flatMap(holds, (isTrue) => (isTrue ? Effect.void : Effect.andThen(turn, until(holds))))

const FAILED = "could not be written to the disk"

const agentIds = (file: string): ReadonlySet<unknown> => {
  const database = new DatabaseSync(file, { readOnly: true })
  const ids = database.prepare("SELECT agent_id FROM agent").all()
  const { integrity_check } = database.prepare("PRAGMA integrity_check").get() ?? {}
  database.close()
  assert.strictEqual(integrity_check, "ok")
  return new Set(ids.map((row) => row["agent_id"]))
}

/** A database on a failing disk, with its clients. */
class Story {
  readonly #file: string
  readonly #image: string
  readonly #random: () => number
  readonly #checkpointPages: number | undefined
  readonly #acknowledged = new Set<string>()
  #names = 0
  #disk: FailingDisk
  #open: { readonly scope: Scope.Closeable; readonly storage: Storage["Service"] } | undefined
  #reader: DatabaseSync | undefined
  /** The file when a sync of its log had failed. */
  #spoiled: Buffer | undefined

  constructor(
    folder: string,
    { seed, isKeptShort }: { readonly seed: number; readonly isKeptShort: boolean },
  ) {
    this.#file = join(folder, "tocsin.db")
    this.#image = join(folder, "image.db")
    this.#disk = new FailingDisk(this.#file)
    this.#random = seeded(seed)
    this.#checkpointPages = isKeptShort ? 20 : undefined
  }

  act(action: Action): Effect.Effect<void, StorageError> {
    switch (action.action) {
      case "commit":
        return this.#commit(action.count)
      case "complete":
        return Effect.andThen(
          Effect.sync(() => this.#disk.complete()),
          turn,
        )
      case "fail":
        return this.#fail(this.#checkpointPages === undefined ? action.share : 0)
      case "foreign checkpoint":
        return this.#foreign("PRAGMA wal_checkpoint(PASSIVE)")
      case "foreign commit":
        return this.#foreign("BEGIN; UPDATE agent SET hostname = 'changed'; COMMIT")
      case "reader":
        return this.#toggleReader()
      case "alternate":
        return this.#alternate()
      case "lose power":
        return this.#losePower(action.share)
      case "restart":
        return Effect.andThen(this.close(), this.open())
    }
  }

  open(): Effect.Effect<void, StorageError> {
    return Effect.gen({ self: this }, function* () {
      const disk = new FailingDisk(this.#file)
      const opened = yield* Effect.result(
        openStorage(this.#file, { sync: disk.sync, checkpointPages: this.#checkpointPages }),
      )
      if (Result.isFailure(opened)) {
        // Only while another process keeps the spoiled log in use.
        assert.strictEqual(opened.failure.reason, "damaged")
        assert.isDefined(this.#reader)
        assert.isDefined(this.#spoiled)
        assert.isTrue(readFileSync(this.#file).equals(this.#spoiled ?? Buffer.of()))
        yield* this.#toggleReader()
        return yield* this.open()
      }
      this.#open = opened.success
      this.#disk = disk
      this.#spoiled = undefined
      disk.hang()
      this.#requireAcknowledged(this.#file)
    })
  }

  close(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.#disk.work()
      if (this.#open !== undefined) yield* Scope.close(this.#open.scope, Exit.void)
      this.#open = undefined
      if (this.#spoiled !== undefined) assert.isTrue(readFileSync(this.#file).equals(this.#spoiled))
    })
  }

  closeReader(): void {
    this.#reader?.close()
    this.#reader = undefined
  }

  #commit(count: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { storage } = this.#open ?? {}
      if (storage === undefined) return
      let ended = 0
      for (let n = 0; n < count; n++) {
        const name = `agent-${this.#names++}`
        const written = transact(storage, putAgent(name)).pipe(
          Effect.tap(() => Effect.sync(() => this.#acknowledged.add(name))),
          Effect.exit,
          Effect.tap(() => Effect.sync(() => ended++)),
        )
        yield* Effect.forkDetach(written, { startImmediately: true })
      }
      yield* until(Effect.sync(() => this.#disk.hanging > 0 || ended === count))
    })
  }

  #fail(lostShare: number): Effect.Effect<void, StorageError> {
    return Effect.gen({ self: this }, function* () {
      if (this.#disk.hanging === 0) return
      this.#disk.fail(() => this.#random() < lostShare)
      yield* until(
        Effect.map(
          Effect.result(this.#open?.storage.probe ?? Effect.void),
          (probed) => Result.isFailure(probed) && probed.failure.message.includes(FAILED),
        ),
      )
      // Pages may be lost, and no checkpoint runs, where the log is not kept short.
      if (this.#checkpointPages === undefined) this.#spoiled ??= readFileSync(this.#file)
    })
  }

  #foreign(sql: string): Effect.Effect<void> {
    return Effect.sync(() => {
      // Other tools than Tocsin move a spoiled log all the same.
      if (this.#spoiled !== undefined) return
      const other = new DatabaseSync(this.#file, { timeout: 1_000 })
      other.exec(sql)
      other.close()
    })
  }

  /** Commits of the same size, each to a log that starts over before it. */
  #alternate(): Effect.Effect<void, StorageError> {
    const once = [
      { action: "foreign checkpoint" },
      { action: "commit", count: 1 },
      { action: "lose power", share: 0 },
      { action: "complete" },
    ] as const
    return Effect.forEach([...once, ...once, ...once], (action) => this.act(action), { discard: true })
  }

  #toggleReader(): Effect.Effect<void> {
    return Effect.sync(() => {
      if (this.#reader !== undefined) return this.closeReader()
      this.#reader = new DatabaseSync(this.#file, { readOnly: true })
      this.#reader.exec("BEGIN")
      this.#reader.prepare("SELECT 1 FROM sqlite_schema").get()
    })
  }

  #losePower(survivingShare: number): Effect.Effect<void, StorageError> {
    return Effect.gen({ self: this }, function* () {
      const { file, log } = this.#disk.afterPowerLoss(() => this.#random() < survivingShare)
      for (const suffix of ["", "-wal", "-shm", "-wal-spoiled"])
        rmSync(`${this.#image}${suffix}`, { force: true })
      writeFileSync(this.#image, file)
      writeFileSync(`${this.#image}-wal`, log)
      const note = `${this.#file}-wal-spoiled`
      if (existsSync(note)) copyFileSync(note, `${this.#image}-wal-spoiled`)
      const { scope } = yield* openStorage(this.#image, {})
      this.#requireAcknowledged(this.#image)
      yield* Scope.close(scope, Exit.void)
    })
  }

  #requireAcknowledged(file: string): void {
    const kept = agentIds(file)
    assert.deepStrictEqual(
      Array.from(this.#acknowledged).filter((name) => !kept.has(name)),
      [],
    )
  }
}

const openStorage = Effect.fnUntraced(function* (
  file: string,
  log: SqliteStorage.SqliteStorageOptions["log"],
) {
  const scope = yield* Scope.make()
  const services = yield* Layer.buildWithScope(Layer.fresh(SqliteStorage.layer({ file, log })), scope).pipe(
    Effect.onError(() => Scope.close(scope, Exit.void)),
  )
  return { scope, storage: Context.get(services, Storage) }
})

const putAgent = (name: string) =>
  // oxlint-disable-next-line eslint/require-yield -- it has to see nothing
  function* (unit: { readonly agents: { readonly put: (agent: ReturnType<typeof agentRecord>) => void } }) {
    unit.agents.put(agentRecord(name))
    return name
  }

describe("a database on a disk that fails", () => {
  it.live(
    "keeps acknowledged data through a power loss at any moment, and never applies a damaged log",
    () =>
      forAll(arbitraryScenario, { runs: RUNS }, ({ seed, actions, isKeptShort }) =>
        Effect.gen(function* () {
          const folder = mkdtempSync(join(tmpdir(), "tocsin-failing-"))
          const scenario = new Story(folder, { seed, isKeptShort })
          const end = Effect.gen(function* () {
            scenario.closeReader()
            yield* scenario.close()
            rmSync(folder, { recursive: true, force: true })
          })
          yield* Effect.ensuring(
            Effect.gen(function* () {
              yield* scenario.open()
              // A scenario that hangs fails with the step that it waits for.
              for (const action of actions) yield* Effect.timeout(scenario.act(action), PATIENCE)
              yield* scenario.act({ action: "lose power", share: 0 })
              yield* scenario.act({ action: "restart" })
            }),
            end,
          )
        }),
      ),
    PROPERTY_TIMEOUT_MILLIS,
  )
})
