import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import process from "node:process"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { faultyNetwork } from "../postgres/faultyNetwork.ts"
import { OPERATOR_TOKEN } from "./api.ts"
import { scratchFolder, scratchPostgres } from "./scratch.ts"
import { secretOf, webhookSecretOf } from "./secrecy.ts"
import { type Environment, launch, startServer } from "./ServerProcess.ts"

const inMemory = { DATABASE_URL: "memory:", SERVICE_AUTH_TOKEN: OPERATOR_TOKEN }

/** What a server that cannot start says to the person who started it: all that it writes besides its log. */
const refusal = Effect.fnUntraced(function* (cwd: string, environment: Environment) {
  const server = yield* launch({ cwd, environment })
  assert.deepStrictEqual(yield* server.ended, { code: 1, signal: null }, server.output.stderr)
  assert.notMatch(server.output.stderr, /\n\s+at /)
  return server.output.stderr.split("\n").filter((line) => !line.startsWith("{"))
})

const occupiedPort = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ port, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close),
)

const isRoot = process.getuid?.() === 0

describe("a server that cannot start says why in one message and exits with 1", { timeout: 60_000 }, () => {
  it.live("where its port is taken", () =>
    Effect.gen(function* () {
      const { port } = yield* occupiedPort
      assert.deepStrictEqual(yield* refusal(yield* scratchFolder, { ...inMemory, SERVICE_PORT: String(port) }), [
        `Tocsin cannot start: listen EADDRINUSE: address already in use 127.0.0.1:${port}; ` +
          "stop what listens there, or set SERVICE_HOST and SERVICE_PORT to another address",
        "",
      ])
    }),
  )

  it.live("where a file has the place of its data folder", () =>
    Effect.gen(function* () {
      const folder = yield* scratchFolder
      writeFileSync(join(folder, "data"), "")
      assert.deepStrictEqual(yield* refusal(folder, {}), [
        "Tocsin cannot start: the data folder ./data cannot be made; check its parent's permissions or set SERVICE_DATA_DIR",
        "",
      ])
    }),
  )

  it.live.skipIf(isRoot)(`where it may not write to its data folder${isRoot ? " (not as root, who may)" : ""}`, () =>
    Effect.gen(function* () {
      const folder = yield* scratchFolder
      chmodSync(folder, 0o500)
      const [message, ...rest] = yield* refusal(folder, { SERVICE_DATA_DIR: folder })
      assert.match(message ?? "", /permissions/)
      assert.deepStrictEqual(rest, [""])
    }),
  )
})
