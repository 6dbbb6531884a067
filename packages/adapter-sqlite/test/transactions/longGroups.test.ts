import { assert, describe, it } from "@effect/vitest"
import type { Command } from "@tocsin/core/kernel/unitOfWork/Decision"
import { transact } from "@tocsin/testing/transact"
import { Effect } from "effect"
import { openStorage, scratchFile } from "../ScratchFile.ts"

const spin = (millis: number): void => {
  const until = performance.now() + millis
  while (performance.now() < until);
}

/** How many turns of the event loop, each as long as that, pass between a group of `groupMillis` and the next one. */
const turnsBetween = Effect.fnUntraced(function* (groupMillis: number, turnMillis: number) {
  const storage = yield* openStorage(yield* scratchFile)
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns += 1
    spin(turnMillis)
    if (!isOver) setImmediate(turn)
  }
  // oxlint-disable-next-line eslint/require-yield -- it decides nothing
  const long: Command<void> = function* () {
    spin(groupMillis)
    turns = 0
    // After the transaction, so that a turn is one of the event loop.
    setImmediate(turn)
  }
  // oxlint-disable-next-line eslint/require-yield -- it decides nothing
  const next: Command<number> = function* () {
    isOver = true
    return turns
  }
  const [, passed] = yield* Effect.all([transact(storage, long), transact(storage, next)], {
    concurrency: "unbounded",
  })
  return passed
})

/** A busy machine may hold this process up in some of them. */
const tries = (groupMillis: number, turnMillis: number) =>
  Effect.all(Array.from({ length: 5 }, () => turnsBetween(groupMillis, turnMillis)))

describe("after a long group of commands", () => {
  it.effect("other work has several turns of the event loop", () =>
    Effect.gen(function* () {
      assert.isAbove(Math.max(...(yield* tries(50, 0))), 2)
    }),
  )

  it.effect("the next group does not wait for turns that take longer than the group did", () =>
    Effect.gen(function* () {
      assert.isAtMost(Math.min(...(yield* tries(30, 40))), 2)
    }),
  )
})
