import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Scope, Exit } from "effect"
import { Commits } from "../../../../src/kernel/engine/commits/Commits.ts"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Storage, StorageError } from "../../../../src/kernel/ports/Storage.ts"
import { type Command, decideSync } from "../../../../src/kernel/unitOfWork/Decision.ts"
import { openUnit } from "../../../../src/lists/openUnit.ts"
import { orderColumns } from "../../../../src/lists/ListDefinitions.ts"

/** Commits to a storage that keeps nothing and fails on request, and what a listener heard. */
const observed = Effect.gen(function* () {
  const heard: Array<string> = []
  const control = { isFull: false }
  const storage = Layer.mock(Storage, {
    orderOf: orderColumns,
    transact: (command) =>
      Effect.suspend(() =>
        control.isFull
          ? Effect.fail(new StorageError({ reason: "full", message: "full" }))
          : Effect.succeed(decideSync(command(openUnit(), Instant.fromMicros(0n)), () => {}).committed()),
      ),
  })
  const commits = Context.get(yield* Layer.build(Commits.layer.pipe(Layer.provide(storage))), Commits)
  const scope = yield* Scope.make()
  yield* Scope.provide(
    commits.listen({
      committed: ({ isWrite }) => heard.push(isWrite ? "write" : "look"),
      failed: ({ reason }) => heard.push(reason),
    }),
    scope,
  )
  return { commits, control, heard, stopListening: Scope.close(scope, Exit.void) }
})

// oxlint-disable-next-line eslint/require-yield -- a decision that has to see nothing
const look: Command<string> = function* () {
  return "seen"
}

// oxlint-disable-next-line eslint/require-yield -- a decision that has to see nothing
const write: Command<string> = function* (unit, now) {
  unit.of("service_heartbeat").put({
    name: "service",
    beat_at: now,
    outage_began_at: undefined,
    outage_ended_at: undefined,
  })
  return "written"
}

describe("commits", () => {
  it.effect("return the reply, and report changes and failures to the listeners", () =>
    Effect.gen(function* () {
      const { commits, control, heard } = yield* observed
      assert.strictEqual(yield* commits.transact(look), "seen")
      assert.strictEqual(yield* commits.transact(write), "written")
      control.isFull = true
      assert.strictEqual((yield* Effect.flip(commits.transact(write))).reason, "full")
      assert.deepStrictEqual(heard, ["look", "write", "full"])
    }),
  )

  it.effect("report nothing to a listener whose scope is closed", () =>
    Effect.gen(function* () {
      const { commits, heard, stopListening } = yield* observed
      yield* stopListening
      yield* commits.transact(write)
      assert.deepStrictEqual(heard, [])
    }),
  )
})
