import { assert, describe, it } from "@effect/vitest"
import { confirm } from "@tocsin/server/output/Output"
import { Effect, Result } from "effect"
import { fakeTerminal } from "./FakeOutput.ts"

const outcomeOf = Effect.fnUntraced(function* (answer: string | undefined, isConfirmed: boolean) {
  const terminal = fakeTerminal(answer)
  const result = yield* Effect.result(
    Effect.provide(confirm("this deletes web-1", isConfirmed), terminal.layer),
  )
  return { outcome: Result.isSuccess(result) ? "done" : result.failure.message, asked: terminal.stderr }
})

describe("an irreversible action", () => {
  it.effect.each(["y", "Y", " yes "])("is done where a person answers %s", (answer) =>
    Effect.gen(function* () {
      const asked = "this deletes web-1. Do it? [y/N] "
      assert.deepStrictEqual(yield* outcomeOf(answer, false), { outcome: "done", asked })
    }),
  )

  it.effect.each(["", "n", "yesterday"])("is not done where a person answers %j", (answer) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* outcomeOf(answer, false)).outcome, "nothing was changed")
    }),
  )

  it.effect("is done without asking by --yes, and elsewhere than on a terminal by nothing else", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* outcomeOf("n", true), { outcome: "done", asked: "" })
      assert.deepStrictEqual(yield* outcomeOf(undefined, true), { outcome: "done", asked: "" })
      assert.include((yield* outcomeOf(undefined, false)).outcome, "--yes")
    }),
  )
})
