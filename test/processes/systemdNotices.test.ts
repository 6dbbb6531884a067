import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { scratchFolder } from "./scratch.ts"
import { startServer } from "./ServerProcess.ts"
import { until } from "./until.ts"

/** A systemd-notify that records its arguments and its environment. */
const noting = (file: string) =>
  `#!/bin/sh\necho "$* to $NOTIFY_SOCKET" "$(env | grep -c SERVICE_)" >>'${file}'\n`

describe("a server that systemd started", () => {
  it.live("reports that it is ready, and then regularly that it is alive", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const file = join(cwd, "notified")
      writeFileSync(file, "")
      writeFileSync(join(cwd, "systemd-notify"), noting(file), { mode: 0o755 })
      const notified = () => readFileSync(file, "utf8").trim().split("\n")
      yield* startServer({
        cwd,
        environment: {
          DATABASE_URL: "memory:",
          NOTIFY_SOCKET: "/run/notify",
          WATCHDOG_USEC: "30000",
          PATH: `${cwd}:${process.env["PATH"]}`,
        },
      })
      const signs = Effect.sync(() => (notified().length > 3 ? notified() : undefined))
      const seen = yield* until("signs of life", signs)
      assert.deepStrictEqual(seen.slice(0, 3), [
        "READY=1 to /run/notify 0",
        "WATCHDOG=1 to /run/notify 0",
        "WATCHDOG=1 to /run/notify 0",
      ])
    }),
  )

  it.live("continues when systemd cannot be notified", () =>
    Effect.gen(function* () {
      const server = yield* startServer({
        cwd: yield* scratchFolder,
        environment: { DATABASE_URL: "memory:", NOTIFY_SOCKET: "/run/notify", PATH: "/nowhere" },
      })
      yield* until(
        "a line in the log",
        Effect.sync(() => server.output.stderr.includes("cannot notify systemd") || undefined),
      )
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
    }),
  )
})
