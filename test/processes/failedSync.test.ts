import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { faultyDisk, faultyDiskObstacle, setDiskMode } from "../faults/FaultyDisk.ts"
import { enroll, eventOf, push } from "./Agent.ts"
import { historyOf, OPERATOR_TOKEN, statusOf } from "./api.ts"
import { scratchFolder } from "./scratch.ts"
import { launch, startServer } from "./ServerProcess.ts"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

const obstacle = faultyDiskObstacle()

const failed = { code: 1, signal: null }

describe("a server whose disk fails to sync", () => {
  it.live.skipIf(obstacle !== undefined)(
    `ends with 1, and the next start has everything that was acknowledged${skippedFor(obstacle)}`,
    () =>
      Effect.gen(function* () {
        const cwd = yield* scratchFolder
        const environment = { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, ...faultyDisk(cwd) }
        const server = yield* startServer({ cwd, environment })
        const agent = yield* enroll(server, "web-1")
        const [kept, refused] = [
          eventOf({ check_id: "disk", status: "critical" }),
          eventOf({ check_id: "disk", status: "ok" }),
        ]
        assert.strictEqual((yield* push(server, agent, [kept])).status, 202)
        setDiskMode(cwd, "failing")
        assert.strictEqual((yield* push(server, agent, [refused])).status, 500)
        assert.deepStrictEqual(yield* server.ended, failed, server.output.stderr)
        const lines = server.output.stderr.split("\n").filter((line) => line.includes("the server ends"))
        assert.lengthOf(lines, 1)
        assert.include(lines[0], "tocsin.db-wal could not be written to the disk")
        const early = yield* launch({ cwd, environment })
        assert.deepStrictEqual(yield* early.ended, failed, early.output.stderr)
        assert.include(early.output.stderr, "Tocsin cannot start: ")
        setDiskMode(cwd, "works")
        const again = yield* startServer({ cwd, environment })
        assert.strictEqual(yield* statusOf(again, "/api/v1/ready"), 200)
        const statuses = (yield* historyOf(again)).map(({ status }) => status)
        assert.include(statuses, "critical")
        assert.isFalse(existsSync(join(cwd, "data", "tocsin.db-wal-spoiled")))
        assert.strictEqual((yield* push(again, agent, [refused])).status, 202)
      }),
  )
})
