import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Logger } from "effect"
import { toJsonLine } from "../src/logging.ts"

const linesOf = (effect: Effect.Effect<void>): ReadonlyArray<Record<string, unknown>> => {
  const lines: Array<string> = []
  const logger = Logger.map(Logger.make(toJsonLine), (line) => void lines.push(line))
  Effect.runSync(Effect.provide(effect, Logger.layer([logger])))
  return lines.map((line) => {
    assert.notInclude(line, "\n")
    return JSON.parse(line)
  })
}

describe("a line of the log", () => {
  it("is one flat object with its time first, then its level, message and fields", () => {
    const [line] = linesOf(
      Effect.annotateLogs(Effect.logInfo("something", { n: 1 }), { request_id: "r", bytes: 12 }),
    )
    assert.deepStrictEqual(Object.keys(line ?? {}), ["timestamp", "level", "message", "request_id", "bytes"])
    assert.strictEqual(line?.["level"], "info")
    assert.strictEqual(line?.["message"], 'something {"n":1}')
  })

  it("has a separate field for the cause", () => {
    const [line] = linesOf(Effect.logError("it failed", Cause.fail(new Error("the disk is full"))))
    assert.strictEqual(line?.["message"], "it failed")
    assert.strictEqual(line?.["cause"], "Error: the disk is full")
  })

  it("keeps its own names to itself", () => {
    const [line] = linesOf(Effect.annotateLogs(Effect.logInfo("mine"), { message: "yours", level: "fatal" }))
    assert.strictEqual(line?.["message"], "mine")
    assert.strictEqual(line?.["level"], "info")
  })
})
