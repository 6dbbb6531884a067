import { assert, describe, it } from "@effect/vitest"
import { type Progress, withProgress } from "@tocsin/server/output/withProgress"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { fakeTerminal } from "./FakeOutput.ts"

const steps = ({ report }: Progress) =>
  Effect.gen(function* () {
    report({ done: 1_000, total: 4_000, of: "rows" })
    yield* Effect.sleep("1500 millis")
    report({ done: 3_000, total: 4_000, of: "rows" })
    yield* Effect.sleep("1 second")
    return "done"
  })

const run = Effect.fnUntraced(function* (
  answer: string | undefined,
  asLines: boolean,
  work: (progress: Progress) => Effect.Effect<string> = steps,
) {
  const terminal = fakeTerminal(answer)
  const fiber = yield* Effect.forkChild(Effect.provide(withProgress({ asLines }, work), terminal.layer))
  yield* TestClock.adjust("5 seconds")
  assert.strictEqual(yield* Fiber.join(fiber), "done")
  assert.strictEqual(terminal.stdout, "")
  return terminal.stderr
})

describe("progress", () => {
  it.effect("is redrawn in one line of a terminal, which goes at the end", () =>
    Effect.gen(function* () {
      const shown = (yield* run("", false)).split("\r\u001B[2K")
      assert.deepStrictEqual(Array.from(new Set(shown)), [
        "",
        "1,000 of 4,000 rows (25 %)",
        "3,000 of 4,000 rows (75 %)",
      ])
      assert.strictEqual(shown.at(-1), "")
    }),
  )

  it.effect("is written as lines elsewhere, where it was asked for", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* run(undefined, true),
        "1,000 of 4,000 rows (25 %)\n3,000 of 4,000 rows (75 %)\n",
      )
      assert.strictEqual(yield* run(undefined, false), "")
    }),
  )

  it.effect("is not shown for work of less than a second", () =>
    Effect.gen(function* () {
      const quick = ({ report }: Progress) =>
        Effect.sync(() => report({ done: 1, of: "rows" })).pipe(
          Effect.andThen(Effect.sleep("900 millis")),
          Effect.as("done"),
        )
      assert.strictEqual((yield* run("", false, quick)).replaceAll("\r\u001B[2K", ""), "")
      assert.strictEqual(yield* run(undefined, true, quick), "")
    }),
  )
})
