import { find } from "@tocsin/core/kernel/unitOfWork/Search"
import { readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it, vi } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { type Command, likewise, lone } from "@tocsin/core/kernel/unitOfWork/Decision"
import { incidentRecord, outboxRecord } from "@tocsin/testing/records"
import { purge } from "@tocsin/testing/expireAll"
import { Cause, Effect, Exit, Fiber, Option, Scope } from "effect"
import { SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { agentIds, names, openStorage, putAgent, scratchFile } from "../ScratchFile.ts"
import { transact } from "@tocsin/testing/transact"
import { testsFrom } from "@tocsin/testing/testsFrom"

const WAL_HEADER_BYTES = 32
const FRAME_BYTES = 24 + 4096

/** How many transactions the write-ahead log holds: frames that say how large the database is after them. */
const commitsInLog = (file: string): number => {
  const log = readFileSync(`${file}-wal`)
  let commits = 0
  for (let at = WAL_HEADER_BYTES; at + FRAME_BYTES <= log.length; at += FRAME_BYTES) {
    if (log.readUInt32BE(at + 4) !== 0) commits += 1
  }
  return commits
}

const transactAll = (storage: Storage["Service"], commands: ReadonlyArray<Command<string>>) =>
  Effect.forEach(commands, (command) => Effect.exit(transact(storage, command)), { concurrency: "unbounded" })

// oxlint-disable-next-line eslint/require-yield -- it decides nothing
const defective: Command<string> = function* () {
  throw new Error("a defect of this decision")
}

/** Opens a second incident for a key, which the schema refuses. */
const contradictory: Command<string> = function* (unit) {
  yield {}
  for (const name of ["one", "other"]) {
    const { kind, incident_key } = incidentRecord("shared")
    unit.incidents.put(incidentRecord(name, { kind, incident_key }))
  }
  return "never kept"
}

/** Holds the write lock of a file until the scope ends, or `release` is called. */
const holdLock = (file: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const other = new DatabaseSync(file)
        other.exec("BEGIN IMMEDIATE")
        return other
      }),
      (other) => Effect.sync(() => other.close()),
    ),
    (other) => ({ release: Effect.sync(() => other.exec("ROLLBACK")) }),
  )

/** Lets the event loop turn `count` times, timers included. */
const turns = (count: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const turn = (left: number): void => {
      if (left === 0) resume(Effect.void)
      else setTimeout(() => turn(left - 1), 1)
    }
    turn(count)
  })

/** Every look at the clock is a microsecond after the last, so that a slow machine ends no group early. */
const slowClock = Effect.acquireRelease(
  Effect.sync(() => {
    let millis = performance.now()
    return vi.spyOn(performance, "now").mockImplementation(() => (millis += 0.001))
  }),
  (clock) => Effect.sync(() => clock.mockRestore()),
)

const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })

const failure = <A>(exit: Exit.Exit<A, StorageError>): StorageError | undefined =>
  Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined

const test = testsFrom(scratchFile, it.effect)

describe("group commit", () => {
  test("commands that arrive together share a commit, and each has its own reply", function* (file) {
    const storage = yield* openStorage(file)
    const before = commitsInLog(file)
    const exits = yield* transactAll(
      storage,
      names(100).map((name) => putAgent(name)),
    )
    assert.deepStrictEqual(exits, names(100).map(Exit.succeed))
    // One, or a few where the machine is so slow that a group ends early.
    assert.isBelow(commitsInLog(file) - before, 20)
    assert.deepStrictEqual(yield* agentIds(storage), names(100))
  })

  it.effect("commands whose COMMIT fails leave nothing in the cache of rows", () =>
    Effect.gen(function* () {
      const storage = yield* openStorage(yield* scratchFile)
      const hostname = (name: string): Command<string | undefined> =>
        function* (unit) {
          const agent_id = AgentId.make(name)
          yield { agents: [agent_id] }
          return unit.agents.get(agent_id)?.hostname
        }
      yield* transact(storage, putAgent("a", { hostname: "before" }))
      const { transaction } = SqliteConnection.prototype
      const failing = vi.spyOn(SqliteConnection.prototype, "transaction")
      failing.mockImplementationOnce(function (this: SqliteConnection, use) {
        return transaction.call(this, () => {
          use()
          throw new Error("the disk is full")
        })
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => failing.mockRestore()))
      assert.isTrue(
        Exit.isFailure(yield* Effect.exit(transact(storage, putAgent("b", { hostname: "never" })))),
      )
      assert.deepStrictEqual(
        [yield* transact(storage, hostname("a")), yield* transact(storage, hostname("b"))],
        ["before", undefined],
      )
    }),
  )

  it.effect("more commands than a group takes: all are done, in their order", () =>
    Effect.gen(function* () {
      const storage = yield* openStorage(yield* scratchFile)
      const order: Array<string> = []
      const noted = (name: string) =>
        likewise(putAgent(name), function* (unit, now) {
          const reply = yield* putAgent(name)(unit, now)
          order.push(reply)
          return reply
        })
      yield* transactAll(storage, names(10_000).map(noted))
      assert.deepStrictEqual(order, names(10_000))
      assert.deepStrictEqual(yield* agentIds(storage), names(10_000))
    }),
  )

  it.effect(
    "commands whose group failed, or has to be divided, keep their order among those that came later",
    () =>
      Effect.gen(function* () {
        const storage = yield* openStorage(yield* scratchFile)
        yield* slowClock
        const runs: Array<string> = []
        const noted = (name: string) =>
          likewise(putAgent(name), function* (unit, now) {
            runs.push(name)
            return yield* putAgent(name)(unit, now)
          })
        const searching = (name: string) => lone(noted(name))
        // More than fit into a group.
        const commands = names(600).map((name, n) => (n === 20 ? searching(name) : noted(name)))
        const exits = yield* transactAll(storage, commands.with(150, defective))
        assert.lengthOf(exits.filter(Exit.isFailure), 1)
        const kept = Array.from(new Set(runs.toReversed())).toReversed()
        assert.isAbove(runs.length, kept.length, "no group had to be repeated")
        assert.deepStrictEqual(kept, names(600).toSpliced(150, 1))
      }),
  )

  it.effect(
    "a decision that throws is its caller's defect; one that is refused its caller's error; neighbours are kept",
    () =>
      Effect.gen(function* () {
        const storage = yield* openStorage(yield* scratchFile)
        let runs = 0
        const counted = (name: string) =>
          likewise(putAgent(name), function* (unit, now) {
            runs += 1
            return yield* putAgent(name)(unit, now)
          })
        const commands = [counted("a"), defective, counted("b"), contradictory, counted("c")]
        const exits = yield* transactAll(storage, commands)
        assert.deepStrictEqual(
          exits.map((exit) =>
            Exit.isSuccess(exit) ? exit.value : Cause.hasDies(exit.cause) ? "defect" : "error",
          ),
          ["a", "defect", "b", "error", "c"],
        )
        const refused = exits[3] && failure(exits[3])
        assert.strictEqual(refused?.reason, "other")
        assert.deepStrictEqual(yield* agentIds(storage), ["a", "b", "c"])
        // Once in the group that failed, and once on its own.
        assert.isAtMost(runs, 2 * 3)
        assert.deepStrictEqual(yield* transactAll(storage, [putAgent("d")]), [Exit.succeed("d")])
      }),
  )

  it.effect("a command that searches sees what its neighbours before it made: no item is claimed twice", () =>
    Effect.gen(function* () {
      const storage = yield* openStorage(yield* scratchFile)
      const items = names(9)
      // oxlint-disable-next-line eslint/require-yield -- it has to see nothing
      yield* transact(storage, function* (unit) {
        for (const name of items) unit.incidents.put(incidentRecord(name))
      })
      const enqueue = (name: string): Command<ReadonlyArray<string>> =>
        // oxlint-disable-next-line eslint/require-yield -- it has to see nothing
        function* (unit, now) {
          unit.outbox.put(outboxRecord(name, name, { next_attempt_at: now }))
          return []
        }
      const claim = lone(function* (unit, now) {
        const { due } = yield* find("claimableOutbox", { receivers: ["debug"], limit: 2 })
        return due.map(({ row }) => {
          unit.outbox.put({ ...row, state: "sending", leased_until: now })
          return row.id
        })
      })
      const commands = items.flatMap((name): ReadonlyArray<Command<ReadonlyArray<string>>> => [
        enqueue(name),
        claim,
      ])
      const claimed = yield* Effect.forEach(commands, (command) => transact(storage, command), {
        concurrency: "unbounded",
      })
      assert.deepStrictEqual(
        claimed.flat().toSorted(),
        items.map((name) => outboxRecord(name, name).id).toSorted(),
      )
    }),
  )

  test("an interrupted caller takes its command back as long as it has not run", function* (file) {
    const storage = yield* openStorage(file)
    const lock = yield* holdLock(file)
    const [given, kept] = [
      yield* fork(transact(storage, putAgent("a"))),
      yield* fork(transact(storage, putAgent("b"))),
    ]
    yield* turns(3)
    yield* Fiber.interrupt(given)
    yield* lock.release
    assert.strictEqual(yield* Fiber.join(kept), "b")
    assert.deepStrictEqual(yield* agentIds(storage), ["b"])
  })

  test("the end of its scope finishes what is queued and refuses what comes later, by name", function* (file) {
    const scope = yield* Scope.make()
    const storage = yield* Scope.provide(openStorage(file), scope)
    const queued = yield* Effect.forEach(names(300), (name) => fork(transact(storage, putAgent(name))))
    yield* Scope.close(scope, Exit.void)
    const replies = yield* Effect.forEach(queued, Fiber.join)
    assert.deepStrictEqual(replies, names(300))
    for (const late of [transact(storage, putAgent("late")), agentIds(storage), storage.probe]) {
      const error = yield* Effect.flip(Effect.asVoid(late))
      assert.strictEqual(error.reason, "unavailable")
      assert.include(error.message, "is shutting down")
    }
    assert.deepStrictEqual(yield* agentIds(yield* openStorage(file)), names(300))
  })
})

describe("another process's lock", () => {
  test("is waited for without holding up the event loop, reads or the probe", function* (file) {
    const storage = yield* openStorage(file)
    const lock = yield* holdLock(file)
    const waiting = yield* fork(
      Effect.all([transact(storage, putAgent("a")), purge(storage, 10)], { concurrency: 2 }),
    )
    yield* turns(20)
    assert.isUndefined(waiting.pollUnsafe())
    yield* storage.probe
    assert.deepStrictEqual(yield* agentIds(storage), [])
    yield* lock.release
    assert.deepStrictEqual(yield* Fiber.join(waiting), ["a", 0])
  })

  test("is waited for no longer than allowed; nothing of the command is kept", function* (file) {
    const storage = yield* openStorage(file, { lockTimeout: "50 millis" })
    const lock = yield* holdLock(file)
    const exits = yield* transactAll(storage, [putAgent("a"), putAgent("b")])
    assert.deepStrictEqual(
      exits.map((exit) => failure(exit)?.reason),
      ["in_use", "in_use"],
    )
    yield* lock.release
    assert.strictEqual(yield* transact(storage, putAgent("c")), "c")
    assert.deepStrictEqual(yield* agentIds(storage), ["c"])
  })

  test("at the start is waited for no longer than allowed", function* (file) {
    new DatabaseSync(file).close()
    yield* holdLock(file)
    const error = yield* Effect.flip(openStorage(file, { lockTimeout: "50 millis" }))
    assert.strictEqual(error.reason, "in_use")
  })
})
