import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { Command } from "@tocsin/core/kernel/unitOfWork/Decision"
import { agentRecord } from "@tocsin/testing/records"
import { Effect, Exit, Fiber, Scope } from "effect"
import { eventually, turn } from "../eventually.ts"
import { agentIds, names, openStorage, putAgent, scratchFile } from "../ScratchFile.ts"
import { SlowDisk } from "./SlowDisk.ts"
import { transact } from "@tocsin/testing/transact"
import { testsFrom } from "@tocsin/testing/testsFrom"

const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })

const oneSyncHangs = (disk: SlowDisk) =>
  eventually(
    Effect.sync(() => disk.hanging),
    (count) => count === 1,
  )

const openOnSlowDisk = Effect.gen(function* () {
  const disk = new SlowDisk()
  const file = yield* scratchFile
  const storage = yield* openStorage(file, { log: { sync: disk.sync } })
  yield* transact(storage, putAgent("first"))
  disk.hang()
  return { disk, file, storage }
})

/** Says whether an agent is there; writes nothing. */
const lookFor = (name: string): Command<boolean> =>
  function* (unit) {
    const agentId = AgentId.make(name)
    yield { agents: [agentId] }
    return unit.agents.get(agentId) !== undefined
  }

const test = testsFrom(openOnSlowDisk, it.effect)

describe("a sync that hangs", () => {
  test("holds up answers to commands, and nothing else", function* ({ disk, storage }) {
    const waiting = yield* Effect.forEach(names(3), (name) => fork(transact(storage, putAgent(name))))
    yield* oneSyncHangs(disk)
    assert.deepStrictEqual(yield* agentIds(storage), [...names(3), "first"])
    assert.deepStrictEqual(yield* storage.agent(AgentId.make("first")), agentRecord("first"))
    yield* storage.probe
    yield* storage.counts(agentRecord("first").last_seen_at)
    const late = yield* fork(transact(storage, putAgent("late")))
    yield* eventually(agentIds(storage), (ids) => ids.includes("late"))
    for (const fiber of waiting) assert.isUndefined(fiber.pollUnsafe())
    disk.work()
    assert.deepStrictEqual(yield* Effect.forEach(waiting, Fiber.join), names(3))
    assert.strictEqual(yield* Fiber.join(late), "late")
  })

  test("one sync covers what was committed before it began, and nothing that came later", function* (opened) {
    const { disk, storage } = opened
    const before = yield* fork(transact(storage, putAgent("before")))
    yield* oneSyncHangs(disk)
    const meanwhile = yield* Effect.forEach(names(5), (name) => fork(transact(storage, putAgent(name))))
    yield* eventually(agentIds(storage), (ids) => ids.length === 7)
    assert.strictEqual(disk.hanging, 1)
    disk.complete()
    assert.strictEqual(yield* Fiber.join(before), "before")
    yield* oneSyncHangs(disk)
    for (const fiber of meanwhile) assert.isUndefined(fiber.pollUnsafe())
    disk.complete()
    assert.deepStrictEqual(yield* Effect.forEach(meanwhile, Fiber.join), names(5))
    assert.strictEqual(disk.hanging, 0)
  })

  test("a command that wrote nothing does not answer with what is not durable yet", function* (opened) {
    const { disk, file, storage } = opened
    assert.isTrue(yield* transact(storage, lookFor("first")))
    const write = yield* fork(transact(storage, putAgent("a")))
    yield* oneSyncHangs(disk)
    const look = yield* fork(transact(storage, lookFor("a")))
    for (let turns = 0; turns < 5; turns++) yield* turn
    assert.isUndefined(look.pollUnsafe())
    disk.work()
    assert.deepStrictEqual([yield* Fiber.join(write), yield* Fiber.join(look)], ["a", true])
    // Writes of another process are no more durable for having been written there.
    const other = yield* openStorage(file)
    yield* transact(other, putAgent("b"))
    disk.hang()
    const lookAgain = yield* fork(transact(storage, lookFor("b")))
    yield* oneSyncHangs(disk)
    assert.isUndefined(lookAgain.pollUnsafe())
    disk.work()
    assert.isTrue(yield* Fiber.join(lookAgain))
  })

  test("every commit waits for a sync, though another process moves the log away between them", function* ({
    disk,
    file,
    storage,
  }) {
    const other = yield* Effect.acquireRelease(
      Effect.sync(() => new DatabaseSync(file)),
      (opened) => Effect.sync(() => opened.close()),
    )
    for (const name of names(20)) {
      // The log starts over, and each commit makes it as long as the one before did.
      other.exec("PRAGMA wal_checkpoint(PASSIVE)")
      const written = yield* fork(transact(storage, putAgent("first", { hostname: name })))
      yield* oneSyncHangs(disk)
      assert.isUndefined(written.pollUnsafe())
      disk.complete()
      yield* Fiber.join(written)
    }
  })

  test("stops the taking of commands before too many wait, and goes on after it", function* (opened) {
    const { disk, storage } = opened
    const waiting = yield* Effect.forEach(names(6_000), (name) => fork(transact(storage, putAgent(name))))
    yield* oneSyncHangs(disk)
    const written = yield* eventually(agentIds(storage), (ids) => ids.length > 4_000)
    assert.isBelow(written.length, 4_600)
    const givenUp = waiting.at(-1)
    if (givenUp !== undefined) yield* Fiber.interrupt(givenUp)
    disk.work()
    const replies = yield* Effect.forEach(waiting.slice(0, -1), Fiber.join)
    assert.deepStrictEqual(replies, names(6_000).slice(0, -1))
    assert.deepStrictEqual(yield* agentIds(storage), [...names(6_000).slice(0, -1), "first"])
  })

  it.effect("the end of the scope waits for it: what was written is answered before", () =>
    Effect.gen(function* () {
      const disk = new SlowDisk()
      const file = yield* scratchFile
      const scope = yield* Scope.make()
      const storage = yield* Scope.provide(openStorage(file, { log: { sync: disk.sync } }), scope)
      disk.hang()
      const written = yield* fork(transact(storage, putAgent("a")))
      yield* oneSyncHangs(disk)
      const queued = yield* fork(transact(storage, putAgent("b")))
      const closing = yield* fork(Scope.close(scope, Exit.void))
      const late = yield* Effect.flip(transact(storage, putAgent("late")))
      assert.include(late.message, "is shutting down")
      assert.isUndefined(closing.pollUnsafe())
      disk.work()
      assert.deepStrictEqual([yield* Fiber.join(written), yield* Fiber.join(queued)], ["a", "b"])
      yield* Fiber.join(closing)
      assert.deepStrictEqual(yield* agentIds(yield* openStorage(file)), ["a", "b"])
    }),
  )
})

describe("a sync that fails", () => {
  test("nothing that waited for it is acknowledged, and nothing after it", function* ({ disk, storage }) {
    const waiting = yield* Effect.forEach(names(3), (name) => fork(transact(storage, putAgent(name))))
    yield* oneSyncHangs(disk)
    disk.fail()
    for (const error of yield* Effect.forEach(waiting, (fiber) => Effect.flip(Fiber.join(fiber)))) {
      assert.strictEqual(error.reason, "unavailable")
      assert.include(error.message, "check the disk")
    }
    // The next sync would succeed without having written what the failed one did not.
    for (const use of [
      transact(storage, putAgent("refused")),
      transact(storage, lookFor("first")),
      storage.probe,
    ]) {
      assert.strictEqual((yield* Effect.flip(Effect.asVoid(use))).reason, "unavailable")
    }
    assert.strictEqual(disk.hanging, 0)
  })
})
