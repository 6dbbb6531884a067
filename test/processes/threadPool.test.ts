import { readdirSync, readFileSync } from "node:fs"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { OPERATOR_TOKEN } from "./api.ts"
import { scratchFolder } from "./scratch.ts"
import { startServer } from "./ServerProcess.ts"

/** The threads of libuv's pool that a server has once it takes requests. */
const poolWith = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>>) {
  const { pid } = yield* startServer({
    cwd: yield* scratchFolder,
    environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, ...environment },
  })
  const names = readdirSync(`/proc/${pid}/task`).map((task) =>
    readFileSync(`/proc/${pid}/task/${task}/comm`, "utf8").trim(),
  )
  return names.filter((name) => name === "libuv-worker").length
})

// Node.js reads the variable at the first work for a thread, which nothing may do before the program.
describe.skipIf(process.platform !== "linux")("libuv's pool", () => {
  it.live("has threads for eight names whose server is silent, and as many for the disk", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* poolWith({}), 16)
    }),
  )

  it.live("is most of a server's threads, of which there are at most 23", () =>
    Effect.gen(function* () {
      const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN }
      const { pid } = yield* startServer({ cwd: yield* scratchFolder, environment })
      assert.isAtMost(readdirSync(`/proc/${pid}/task`).length, 23)
    }),
  )

  it.live("has as many as the operator says", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* poolWith({ UV_THREADPOOL_SIZE: "6" }), 6)
    }),
  )
})
