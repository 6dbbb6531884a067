import { likewise } from "@tocsin/core/kernel/unitOfWork/Decision"
import { assert, it } from "@effect/vitest"
import { type Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { onStorage } from "../onStorage.ts"
import { acceptedAgent, event, heartbeat, newAgent, push } from "../client/TestAgent.ts"

/** Asks for readiness until it is so, and for health meanwhile. */
const untilReadiness = Effect.fnUntraced(function* (status: 200 | 503) {
  for (;;) {
    const answer = yield* call("GET", "/api/v1/ready")
    assert.strictEqual((yield* call("GET", "/api/v1/health")).status, 200)
    if (answer.status === status) {
      if (status === 503) expectError(answer, 503, "not_ready")
      return
    }
    yield* Effect.sleep("20 millis")
  }
})

const unavailable = new StorageError({ reason: "unavailable", message: "the database is unreachable" })
const full = new StorageError({ reason: "full", message: "no space is left" })

/** A probe's reactions other than an answer. */
const losses: ReadonlyArray<Effect.Effect<never, StorageError>> = [
  Effect.fail(unavailable),
  Effect.die(new Error("no such socket")),
  Effect.never,
]

/** Readiness follows the storage, health does not (docs/rules.md#health-and-readiness). */
export const readinessSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  const { tocsin } = onStorage(subject)
  const follow = (probe: Effect.Effect<never, StorageError>) => {
    let isLost = false
    return Effect.gen(function* () {
      yield* untilReadiness(200)
      isLost = true
      yield* untilReadiness(503)
      isLost = false
      yield* untilReadiness(200)
    }).pipe(
      Effect.provide(
        tocsin({
          spoil: (storage) => ({ ...storage, probe: Effect.suspend(() => (isLost ? probe : storage.probe)) }),
        }),
      ),
    )
  }

  it.live("readiness turns 503 while a probe fails, throws or hangs, and 200 after its return", () =>
    Effect.forEach(losses, follow, { concurrency: "unbounded", discard: true }),
  )

  let hasSpace = true
  const spoil = (storage: Storage["Service"]): Storage["Service"] => ({
    ...storage,
    transact: (command) =>
      hasSpace
        ? storage.transact(command)
        : Effect.flatMap(
            Effect.sync(() => ({ writes: false })),
            (seen) =>
              storage
                .transact(
                  likewise(command, function* (workspace, now) {
                    const reply = yield* command(workspace, now)
                    seen.writes = Object.values(workspace.changes()).some((rows) => rows.length > 0)
                    if (seen.writes) throw full
                    return reply
                  }),
                )
                .pipe(
                  Effect.catchDefect((defect) => (defect === full ? Effect.fail(full) : Effect.die(defect))),
                ),
          ),
  })

  scenario(
    "a full storage answers reads and refuses writes and readiness until a write succeeds",
    () =>
      Effect.gen(function* () {
        const agent = yield* acceptedAgent()
        hasSpace = false
        // Nothing was written yet, so the failure is unknown.
        assert.strictEqual((yield* call("GET", "/api/v1/ready")).status, 200)
        const refused = yield* heartbeat(agent)
        expectError(refused, 500, "internal")
        assert.strictEqual(refused.headers["retry-after"], "1")
        expectError(yield* call("GET", "/api/v1/ready"), 503, "not_ready")
        for (const path of ["/api/v1/agents", "/api/v1/system-summary", "/api/v1/checks", "/api/v1/health"]) {
          assert.strictEqual((yield* operate("GET", path)).status, 200, path)
        }
        // A decision that changes nothing succeeds, and proves nothing.
        expectError(yield* push(newAgent(), event()), 403, "agent_not_accepted")
        expectError(yield* call("GET", "/api/v1/ready"), 503, "not_ready")
        hasSpace = true
        expectError(yield* push(newAgent(), event()), 403, "agent_not_accepted")
        expectError(yield* call("GET", "/api/v1/ready"), 503, "not_ready")
        assert.strictEqual((yield* heartbeat(agent)).status, 202)
        assert.strictEqual((yield* call("GET", "/api/v1/ready")).status, 200)
      }),
    { spoil },
  )
}
