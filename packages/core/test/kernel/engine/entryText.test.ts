import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Logger, References } from "effect"
import { type EntryText, entryText } from "../../../src/kernel/engine/entryText.ts"

const textsOf = (level: "Debug" | "Info", effect: Effect.Effect<void>): ReadonlyArray<EntryText> => {
  const texts: Array<EntryText> = []
  const logger = Logger.map(Logger.make(entryText), (text) => void texts.push(text))
  Effect.runSync(
    effect.pipe(
      Effect.provide(Logger.layer([logger])),
      Effect.provideService(References.MinimumLogLevel, level),
    ),
  )
  return texts
}

const refused = new Error("connect ECONNREFUSED 127.0.0.1:5432")
const failure = new Error("PostgreSQL is unreachable", { cause: new AggregateError([refused]) })
const ONE_LINE =
  "Error: PostgreSQL is unreachable [cause]: AggregateError: connect ECONNREFUSED 127.0.0.1:5432"

describe("the text of a log entry", () => {
  it("names a failure and its causes in one line, whichever way it came", () => {
    const entries = Effect.andThen(
      Effect.logError("it failed", Cause.fail(failure)),
      Effect.logError("it", "failed", failure),
    )
    const text = { message: "it failed", cause: ONE_LINE }
    assert.deepStrictEqual(textsOf("Info", entries), [text, text])
  })

  it("ends where an error is its own cause", () => {
    const own = new Error("around")
    own.cause = own
    const [text] = textsOf("Info", Effect.logError("it failed", own))
    assert.strictEqual(text?.cause?.split("around").length, 7)
  })

  it("has the stack of a failure where the log holds debug entries", () => {
    const [text] = textsOf("Debug", Effect.logError("it failed", Cause.fail(failure)))
    assert.match(text?.cause ?? "", /PostgreSQL is unreachable\n\s+at /)
  })

  it("has the stack of a defect always", () => {
    const [text] = textsOf("Info", Effect.logError("it failed", Cause.die(failure)))
    assert.match(text?.cause ?? "", /PostgreSQL is unreachable\n\s+at /)
  })

  it("has no cause where nothing failed", () => {
    assert.deepStrictEqual(textsOf("Info", Effect.logInfo("something", { n: 1 })), [
      { message: 'something {"n":1}' },
    ])
  })
})
