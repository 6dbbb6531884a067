import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect } from "effect"
import { tocsin, tocsinAlone } from "../cli/tocsin.ts"
import { scratchSite } from "./scratch.ts"
import { launch } from "./ServerProcess.ts"
import { until } from "./until.ts"

const THROWING = `const test = () => {
  setTimeout(() => { throw new Error("closed by SECRET-of-the-pager") })
  return new Promise(() => {})
}
export default { notifiers: [{ name: "pager", secrets: ["SECRET-of-the-pager"], send: () => {}, test }] }
`

const ENDING = `const pager = { name: "pager", send: () => {},
  test: () => process.exit(0) }
export default { notifiers: [pager] }
`

const BUSY = `console.log("imported")
setInterval(() => {}, 1_000)
export default {}
`

describe("a module with a mistake", () => {
  it.live("logs an exception that nothing catches without its secrets, and ends", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchSite({ "the pager.mjs": THROWING })
      const place = { cwd, environment: { SERVICE_EXTENSIONS: "./the pager.mjs" } }
      const { code, stderr } = yield* tocsinAlone(place, "doctor", "--send-test")
      assert.strictEqual(code, EXIT_CODES.failed.code)
      assert.match(stderr, /fatal|FATAL/)
      assert.match(
        stderr,
        /an extension threw where nothing can catch it.*the%20pager\.mjs:2:\d+.*look for an error event/,
      )
      assert.include(stderr, "closed by ***")
    }),
  )

  it.live("refuses a module that ends the process while it is imported", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchSite({ "ends.mjs": "process.exit(0)\n" })
      const place = { cwd, environment: { SERVICE_EXTENSIONS: "./ends.mjs" } }
      const server = yield* launch(place)
      assert.deepStrictEqual(yield* server.ended, { code: EXIT_CODES.failed.code, signal: null })
      const line =
        /^tocsin: an extension ended this process \(at file:.*ends.mjs:1:9\): remove its process.exit\n$/
      assert.match(server.output.stderr, line)
      const command = yield* tocsinAlone(place, "agents", "list")
      assert.strictEqual(command.code, EXIT_CODES.failed.code)
      assert.match(command.stderr, line)
    }),
  )

  it.live("names a module whose import loops", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchSite({ "loops.mjs": "for (;;);\n" })
      const server = yield* launch({ cwd, environment: { SERVICE_EXTENSIONS: "./loops.mjs" } })
      const isNamed = Effect.sync(() =>
        server.output.stderr.includes("still importing ./loops.mjs: look for"),
      )
      yield* until("the start names the module", isNamed)
    }),
  )

  it.live("fails a command whose module ends the process later", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchSite({ "pager.mjs": ENDING })
      const place = { cwd, environment: { SERVICE_EXTENSIONS: "./pager.mjs" } }
      const { code, stderr } = yield* tocsinAlone(place, "doctor", "--send-test")
      assert.strictEqual(code, EXIT_CODES.failed.code)
      assert.match(
        stderr,
        /an extension ended this process \(at .*pager.mjs:2:\d+\)+: remove its process.exit/,
      )
    }),
  )

  it.live("ends a command whose module logs and keeps a timer, with its output alone", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchSite({ "pager.mjs": BUSY })
      const shell = { cwd, environment: { SERVICE_EXTENSIONS: "./pager.mjs" } }
      yield* tocsin(shell, "migrate")
      const { code, stderr, stdout } = yield* tocsinAlone(shell, "agents", "list", "--json")
      assert.deepStrictEqual([code, JSON.parse(stdout)], [0, { items: [], has_more: false }])
      assert.include(stderr, "imported")
    }),
  )
})
