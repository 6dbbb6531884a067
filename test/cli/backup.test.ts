import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect, Fiber } from "effect"
import { eventOf, push } from "../processes/Agent.ts"
import { historyOf } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { populateTables, shownBy } from "./populateTables.ts"
import { serverAt, tocsin } from "./tocsin.ts"

describe.concurrent("tocsin backup", () => {
  it.live("copies the database of a running server, and a server starts on the copy", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      const server = yield* startServer(serverAt(place))
      const { first } = yield* populateTables(server)
      const before = (yield* historyOf(server)).length
      let written = 0
      const writer = yield* Effect.forkChild(
        Effect.forever(
          Effect.suspend(() => {
            const status = written % 2 === 0 ? "critical" : "ok"
            return Effect.map(
              push(server, first, [eventOf({ check_id: "busy", status })]),
              () => (written += 1),
            )
          }),
        ),
      )
      const { code, stderr } = yield* tocsin(place, "backup", "copy.db")
      const duringBackup = written
      yield* Fiber.interrupt(writer)
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.isAbove(duringBackup, 0)

      const restored = { cwd: yield* scratchFolder, environment: {} }
      mkdirSync(join(restored.cwd, "data"))
      copyFileSync(join(place.cwd, "copy.db"), join(restored.cwd, "data", "tocsin.db"))
      const copy = yield* startServer(serverAt(restored))
      const kept = yield* historyOf(copy)
      assert.isAtLeast(kept.length, before)
      // One instant of the service: all its writes up to then.
      const all = yield* historyOf(server)
      assert.deepStrictEqual(kept, all.slice(-kept.length))
      assert.strictEqual(
        JSON.stringify((yield* shownBy(copy))[1]),
        JSON.stringify((yield* shownBy(server))[1]),
      )
    }),
  )

  it.live("replaces a file only with --force, and leaves no partial file", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      yield* tocsin(place, "migrate")
      const file = join(place.cwd, "copy.db")
      writeFileSync(file, "precious")
      const refused = yield* tocsin(place, "backup", "copy.db")
      assert.deepStrictEqual([refused.code, refused.stdout], [EXIT_CODES.refused.code, ""])
      assert.strictEqual(readFileSync(file, "utf8"), "precious")
      const forced = yield* tocsin(place, "backup", "copy.db", "--force", "--json")
      assert.match(forced.stdout, /^\{"file":"copy.db","bytes":\d+,"schema":[1-9]\d*\}\n$/)
      assert.strictEqual(readFileSync(file).toString("latin1", 0, 15), "SQLite format 3")
      assert.strictEqual(
        (yield* tocsin(place, "backup", "data/tocsin.db", "--force")).code,
        EXIT_CODES.refused.code,
      )
      const nowhere = yield* tocsin(place, "backup", "nowhere/copy.db")
      assert.strictEqual(nowhere.code, EXIT_CODES.storage.code)
      assert.match(nowhere.stderr, /^tocsin: there is no folder nowhere: create it, /)
      assert.deepStrictEqual(readdirSync(place.cwd).toSorted(), ["copy.db", "data"])
    }),
  )

  it.live("never replaces a database in use, under any path", () =>
    Effect.gen(function* () {
      const place = { cwd: yield* scratchFolder, environment: {} }
      const other = { cwd: yield* scratchFolder, environment: {} }
      const server = yield* startServer(serverAt(place))
      yield* populateTables(server)
      yield* startServer(serverAt(other))
      symlinkSync(join(place.cwd, "data"), join(place.cwd, "linked"))
      symlinkSync(join(place.cwd, "data", "tocsin.db"), join(place.cwd, "link.db"))
      linkSync(join(place.cwd, "data", "tocsin.db"), join(place.cwd, "hard.db"))
      const inode = () => statSync(join(place.cwd, "data", "tocsin.db")).ino
      const before = inode()
      const targets = [
        "linked/tocsin.db",
        "link.db",
        "hard.db",
        "data/../data/tocsin.db",
        join(other.cwd, "data", "tocsin.db"),
      ]
      for (const target of targets) {
        const { code, stderr } = yield* tocsin(place, "backup", target, "--force")
        assert.strictEqual(code, EXIT_CODES.refused.code, target)
        assert.match(stderr, /name another file/)
      }
      assert.strictEqual(inode(), before)
    }),
  )

  it.live("names the tool for PostgreSQL, and reports that there is nothing to back up", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const elsewhere = yield* tocsin(
        { cwd, environment: { DATABASE_URL: "postgres://127.0.0.1:1/db" } },
        "backup",
        "x.db",
      )
      assert.strictEqual(elsewhere.code, EXIT_CODES.refused.code)
      assert.include(elsewhere.stderr, "pg_dump")
      const nothing = yield* tocsin({ cwd, environment: {} }, "backup", "x.db")
      assert.strictEqual(nothing.code, EXIT_CODES.storage.code)
      assert.isFalse(existsSync(join(cwd, "x.db")))
    }),
  )
})
