import { assert, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { SqliteFailures } from "../../src/connection/SqliteFailures.ts"

const forbiddenBy = {
  "Node.js with --permission": Object.assign(new Error("Access to this API has been restricted."), {
    code: "ERR_ACCESS_DENIED",
    permission: "FileSystemRead",
  }),
  Deno: Object.assign(new Error('Requires read access to "/data", run again with the --allow-read flag'), {
    name: "NotCapable",
  }),
}

// A log, a lock file and a copy are written by the file system's calls, and not by SQLite.
for (const [code, reason, words] of [
  ["ENOSPC", "full", /^there is no disk space left for/],
  ["EDQUOT", "full", /^there is no disk space left for/],
  ["EROFS", "read_only", /^\/data\/tocsin.db is not writable: give/],
  ["EACCES", "read_only", /^\/data\/tocsin.db is not writable: give/],
  ["EIO", "unavailable", /check the disk and the system log$/],
] as const)
  it.effect(`a call of the file system that fails with ${code} says so: ${reason}`, () =>
    Effect.gen(function* () {
      const error = Object.assign(new Error(`${code}: raw words, write`), {
        code,
        errno: -1,
        syscall: "write",
      })
      const failure = yield* Effect.flip(new SqliteFailures("/data/tocsin.db").toEffect(error))
      assert.strictEqual(failure.reason, reason)
      assert.match(failure.message, words)
    }),
  )

for (const [runtime, error] of Object.entries(forbiddenBy))
  it.effect(`a file that the runtime keeps is no fault of the disk: ${runtime}`, () =>
    Effect.gen(function* () {
      const { message, reason } = yield* Effect.flip(new SqliteFailures("/data/tocsin.db").toEffect(error))
      assert.strictEqual(reason, "unavailable")
      assert.match(message, /^the runtime keeps \/data\/tocsin.db from this program: grant it/)
    }),
  )

// Node.js 24.22.3, which grants no program with --permission a sync: nothing can be stored durably there.
it.each([
  ["one folder", (folder: string) => `--allow-fs-write=${folder}`],
  ["all files", () => "--allow-fs-write=*"],
])("SQLite says that --permission of Node.js with %s keeps it from being durable", (_, grant) => {
  const script = `
    import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
    import { Storage } from "@tocsin/core/kernel/ports/Storage"
    import { Effect } from "effect"
    const stored = Effect.flatMap(Storage, (storage) => storage.establish("name", "value"))
    const stores = Effect.provide(stored, SqliteStorage.layer({ file: process.argv[1] }))
    await Effect.runPromise(stores).catch(({ message }) => console.log(message))`
  const folder = mkdtempSync(join(tmpdir(), "tocsin-permission-"))
  const grants = ["--permission", "--allow-fs-read=*", grant(folder), "--input-type=module"]
  const file = join(folder, "tocsin.db")
  const { stdout } = spawnSync(process.execPath, [...grants, "--eval", script, file], {
    cwd: fileURLToPath(new URL("../../../../test", import.meta.url)),
    encoding: "utf8",
  })
  rmSync(folder, { recursive: true })
  assert.strictEqual(
    stdout.trim(),
    `${file} cannot be made durable, because Node.js keeps fdatasync from programs that run with --permission: run this one without it, or store in PostgreSQL`,
  )
})
