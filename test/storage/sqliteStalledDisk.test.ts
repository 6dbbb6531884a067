import { spawnSync } from "node:child_process"
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { enroll, eventOf, heartbeat, push } from "../processes/Agent.ts"
import { call, OPERATOR_TOKEN } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { lacking, programPath } from "../../scripts/programs.mjs"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"

/**
 * Replaces the system's syncs: none ends while a file `stalled` exists, and `waiting` appears when
 * one starts.
 */
const STALL = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void stall(void) {
  while (access(getenv("STALL_FILE"), F_OK) == 0) {
    close(open(getenv("WAITING_FILE"), O_CREAT | O_WRONLY, 0600));
    usleep(1000);
  }
}

static int synced(const char *name, int descriptor) {
  stall();
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(descriptor);
}

int fsync(int descriptor) { return synced("fsync", descriptor); }
int fdatasync(int descriptor) { return synced("fdatasync", descriptor); }
`

const COMPILER = programPath("cc") ?? "cc"

const compile = (folder: string): string => {
  const library = join(folder, "stall.so")
  const compiled = spawnSync(COMPILER, ["-shared", "-fPIC", "-x", "c", "-", "-o", library, "-ldl"], {
    input: STALL,
  })
  assert.strictEqual(compiled.status, 0, String(compiled.stderr))
  return library
}

const obstacle = process.platform === "linux" ? lacking("cc") : "disks can be stalled on Linux alone"

const READS = [
  "/health",
  "/ready",
  "/agents",
  "/checks",
  "/incidents",
  "/notifiers/outbox",
  "/system-summary",
]
const ROUNDS = 20
const AGENTS = 4

describe("a disk that stalls", () => {
  it.live.skipIf(obstacle !== undefined)(
    `stops no health check, list or summary; commands are answered when it goes on${skippedFor(obstacle)}`,
    () =>
      Effect.gen(function* () {
        const cwd = yield* scratchFolder
        const [stalled, waiting] = [join(cwd, "stalled"), join(cwd, "waiting")]
        const server = yield* startServer({
          cwd,
          environment: {
            SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
            SERVICE_STORAGE_TIMEOUT: "50s",
            LD_PRELOAD: compile(cwd),
            STALL_FILE: stalled,
            WAITING_FILE: waiting,
          },
        })
        const agents = yield* Effect.forEach(Array.from({ length: AGENTS }), (_, n) =>
          enroll(server, `agent-${n}`),
        )
        const send = Effect.forEach(agents, (agent) =>
          Effect.forkChild(
            Effect.all(
              [
                heartbeat(server, agent),
                push(server, agent, [eventOf({ check_id: "disk", status: "critical" })]),
              ],
              { concurrency: 2 },
            ),
          ),
        )
        writeFileSync(stalled, "")
        const first = yield* send
        yield* until(
          "a sync hangs",
          Effect.sync(() => existsSync(waiting)),
        )
        const second = yield* send
        const incidents = Effect.map(
          call(server, "GET", "/api/v1/incidents"),
          ({ text }) => text.split('"agent-').length,
        )
        yield* until(
          "commands that wait for the disk are decided",
          Effect.map(incidents, (count) => count > AGENTS),
        )
        for (let round = 0; round < ROUNDS; round++) {
          for (const path of READS) {
            assert.strictEqual((yield* call(server, "GET", `/api/v1${path}`)).status, 200, path)
          }
        }
        const sent = [...first, ...second]
        for (const fiber of sent) assert.isUndefined(fiber.pollUnsafe())
        rmSync(stalled)
        for (const answers of yield* Effect.forEach(sent, Fiber.join)) {
          assert.deepStrictEqual(
            answers.map(({ status }) => status),
            [202, 202],
          )
        }
      }),
  )
})
