import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { accept, acceptedAgent, blockedAgent, event, heartbeat, newAgent, push } from "../client/TestAgent.ts"
import { newToken } from "../service/Observatory.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"

const KIB = 1024
/** A burst of three bodies of that size, and one a minute. */
const BODY = 80 * KIB
const volume = { perMinute: BODY + 4 * KIB, burst: 3 * (BODY + 4 * KIB) }

/** Sends invalid JSON with a key. */
const pushGarbage = (path: string, token: string, bytes = BODY) =>
  call("POST", path, { token, body: "x".repeat(bytes) })

const spend = Effect.gen(function* () {
  for (let sent = 0; sent < 3; sent++)
    expectError(yield* pushGarbage("/api/v1/heartbeat", newToken()), 400, "validation")
})

/** The budget of clients without an accepted key, and its effect on others. */
export const throttlingSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario(
    "unaccepted keys share the budget of their address, and accepted keys are unaffected",
    () =>
      Effect.gen(function* () {
        const { clock } = yield* Tocsin
        const known = yield* acceptedAgent()
        assert.deepStrictEqual((yield* heartbeat(known)).body, { accepted: true })
        clock.advance("10 minutes")
        yield* spend
        const refused = yield* pushGarbage("/api/v1/heartbeat", newToken())
        expectError(refused, 429, "rate_limited")
        assert.strictEqual(Number(refused.headers["retry-after"]), 60)
        // Its body is never read, whatever its length.
        expectError(yield* pushGarbage("/api/v1/heartbeat", newToken(), 2_000 * KIB), 429, "rate_limited")
        expectError(yield* pushGarbage("/api/v1/events", newToken()), 403, "agent_not_accepted")
        expectError(yield* heartbeat(newAgent()), 429, "rate_limited")
        assert.strictEqual((yield* heartbeat(known)).status, 202)
        assert.strictEqual((yield* push(known, event())).status, 202)
        expectError(yield* pushGarbage("/api/v1/heartbeat", known.key), 400, "validation")
        clock.advance("1 minute")
        expectError(yield* pushGarbage("/api/v1/heartbeat", newToken()), 400, "validation")
        expectError(yield* pushGarbage("/api/v1/heartbeat", newToken()), 429, "rate_limited")
      }),
    { rules: { unknownKeyVolume: volume } },
  )

  scenario(
    "a newly accepted key passes, and a newly blocked key is refused as blocked",
    () =>
      Effect.gen(function* () {
        const { clock } = yield* Tocsin
        const blocked = yield* blockedAgent()
        const agent = newAgent()
        assert.deepStrictEqual((yield* heartbeat(agent)).body, { accepted: false })
        clock.advance("10 minutes")
        yield* spend
        expectError(yield* heartbeat(agent), 429, "rate_limited")
        expectError(yield* heartbeat(blocked), 403, "agent_blocked")
        expectError(yield* push(blocked, event()), 403, "agent_blocked")
        yield* accept(agent)
        assert.strictEqual((yield* push(agent, event())).status, 202)
        assert.strictEqual((yield* heartbeat(agent)).status, 202)
      }),
    { rules: { unknownKeyVolume: volume } },
  )

  scenario(
    "a body without a length counts as what was read of it",
    () =>
      Effect.gen(function* () {
        const chunked = (bytes: number) =>
          call("POST", "/api/v1/heartbeat", {
            token: newToken(),
            body: Array.from({ length: 4 }, () => Buffer.alloc(bytes / 4, " ")),
          })
        for (let sent = 0; sent < 40; sent++) expectError(yield* chunked(400), 400, "validation")
        expectError(yield* chunked(1_000 * KIB), 400, "validation")
        expectError(yield* chunked(400), 429, "rate_limited")
        expectError(yield* chunked(1_200 * KIB), 429, "rate_limited")
      }),
    { rules: { unknownKeyVolume: { perMinute: 1, burst: 1_100 * KIB } } },
  )

  scenario(
    "too many failed authentications stay 401, end their connections, and leave a valid token alone",
    () =>
      Effect.gen(function* () {
        const { clock, observatory } = yield* Tocsin
        const fail = [
          () => call("GET", "/api/v1/agents", { token: newToken() }),
          () => call("POST", "/api/v1/heartbeat", { body: "{}" }),
          () => call("GET", "/ops/v1/incidents"),
        ]
        const { sightings } = observatory
        const atFirst = sightings.log
        for (const attempt of fail) {
          const refused = yield* attempt()
          expectError(refused, 401, "unauthorized")
          assert.strictEqual(refused.headers["connection"], "keep-alive")
        }
        const between = sightings.log
        for (const attempt of fail) {
          const refused = yield* attempt()
          expectError(refused, 401, "unauthorized")
          assert.strictEqual(refused.headers["connection"], "close")
          assert.isUndefined(refused.headers["retry-after"])
        }
        // Each has its line at debug level, and no other.
        assert.strictEqual(sightings.log - between, between - atFirst)
        assert.strictEqual((yield* operate("GET", "/api/v1/agents")).status, 200)
        assert.strictEqual((yield* heartbeat(newAgent())).status, 202)
        clock.advance("1 minute")
        for (const connection of ["keep-alive", "close"]) {
          const refused = yield* call("GET", "/api/v1/agents")
          expectError(refused, 401, "unauthorized")
          assert.strictEqual(refused.headers["connection"], connection)
        }
      }),
    { rules: { failedAuthenticationRate: { perMinute: 1, burst: 3 } } },
  )
}
