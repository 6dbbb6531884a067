import { assert, describe, it } from "@effect/vitest"
import { logTogether } from "@tocsin/core/kernel/engine/logTogether"
import { Cause, Console, Effect, Logger } from "effect"
import { loggingLayer, toJsonLine } from "../src/logging.ts"

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

  it("goes out with others by one call, in their order, also where one fails", () => {
    const calls: Array<string> = []
    const gathering: Console.Console = Object.assign(Object.create(console), {
      error: (text: string) => void calls.push(text),
    })
    const logging = Effect.all([
      logTogether(Effect.andThen(Effect.logInfo("first"), Effect.logInfo("second"))),
      logTogether(Effect.andThen(Effect.logInfo("third"), Effect.die("a defect"))).pipe(Effect.exit),
      Effect.logInfo("alone"),
    ])
    const settings = { SERVICE_LOG_FORMAT: "json", SERVICE_LOG_LEVEL: "info" } as const
    Effect.runSync(
      logging.pipe(
        Effect.provide(loggingLayer(settings, false)),
        Effect.provideService(Console.Console, gathering),
      ),
    )
    const messages = calls.map((call) => call.split("\n").map((line) => JSON.parse(line).message))
    assert.deepStrictEqual(messages, [["first", "second"], ["third"], ["alone"]])
  })
})
