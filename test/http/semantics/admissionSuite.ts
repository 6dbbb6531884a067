import { createHash } from "node:crypto"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { newToken } from "../service/Observatory.ts"
import { onStorage } from "../onStorage.ts"
import {
  acceptedAgent,
  agentPath,
  block,
  blockedAgent,
  event,
  heartbeat,
  heartbeatBody,
  newAgent,
  pendingAgent,
  push,
  type TestAgent,
} from "../client/TestAgent.ts"
import { Tocsin } from "../service/Tocsin.ts"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
const fingerprint = (key: string): string => sha256(key).slice(0, 16)
const rekeyed = (agent: TestAgent): TestAgent => ({ ...agent, key: newToken() })
const BLACKLIST = "/api/v1/agents/admission/blacklist"

/** The life of keys and agents (docs/rules.md#agent-keys, docs/rules.md#heartbeats). */
export const admissionSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("fingerprints and blacklist IDs can be computed by both sides", () =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent()
      const shown = (of: TestAgent) => Effect.map(operate("GET", agentPath(of)), ({ body }) => body)
      assert.deepInclude(yield* shown(agent), {
        key_fingerprint: fingerprint(agent.key),
        rotation_pending: false,
      })
      // Operators must compare the key that waits.
      const next = rekeyed(agent)
      yield* heartbeat(next)
      assert.deepInclude(yield* shown(agent), {
        key_fingerprint: fingerprint(next.key),
        rotation_pending: true,
      })
      yield* block(agent)
      assert.deepInclude(yield* shown(agent), {
        key_fingerprint: fingerprint(agent.key),
        rotation_pending: false,
      })
      const [row] = yield* itemsOf(BLACKLIST)
      assert.deepInclude(row, {
        id: sha256(`bl1:${sha256(next.key)}`),
        key_fingerprint: fingerprint(next.key),
        agent_id: agent.agent_id,
      })
    }),
  )

  scenario("an agent's fields change with each heartbeat that is not older than the last", () =>
    Effect.gen(function* () {
      const { clock } = yield* Tocsin
      const said = (hostname: string, second: number) => ({
        hostname,
        observed_at: `2026-03-01T12:00:0${second}Z`,
      })
      for (const agent of [yield* pendingAgent(), yield* acceptedAgent()]) {
        const shown = Effect.map(operate("GET", agentPath(agent)), ({ body }) => body)
        yield* heartbeat(agent, { ...said("new", 5), labels: { a: "b" } })
        assert.deepInclude(yield* shown, { hostname: "new", labels: { a: "b" } })
        clock.advance("1 minute")
        yield* heartbeat(agent, said("older", 4))
        assert.deepInclude(yield* shown, { hostname: "new", status: "alive" })
        clock.advance("1 minute")
        yield* heartbeat(agent, said("same moment", 5))
        const now = yield* shown
        assert.deepInclude(now, { hostname: "same moment", status: "alive" })
        assert.notProperty(now, "labels")
      }
    }),
  )

  scenario(
    "a second pending key is refused until the first has been silent for an hour, and then replaces it",
    () =>
      Effect.gen(function* () {
        const { clock } = yield* Tocsin
        const first = yield* pendingAgent()
        const second = rekeyed(first)
        expectError(yield* heartbeat(second), 409, "conflict")
        clock.advance("59 minutes")
        yield* heartbeat(first)
        clock.advance("59 minutes")
        expectError(yield* heartbeat(second), 409, "conflict")
        clock.advance("1 minute")
        assert.deepStrictEqual((yield* heartbeat(second)).body, { accepted: false })
        expectError(yield* heartbeat(first), 409, "conflict")
        assert.deepStrictEqual((yield* operate("POST", `${agentPath(first)}/accept`)).body, { count: 1 })
        assert.deepStrictEqual((yield* heartbeat(second)).body, { accepted: true })
      }),
  )

  scenario("a blocked key updates its row at most once a minute, and belongs to one agent", () =>
    Effect.gen(function* () {
      const { clock } = yield* Tocsin
      const agent = yield* blockedAgent()
      const seen = Effect.map(itemsOf(BLACKLIST), ([row]) => row?.["last_seen_at"])
      const before = yield* seen
      for (const sender of [agent, { ...newAgent(), key: agent.key }]) {
        expectError(yield* heartbeat(sender), 403, "agent_blocked")
        expectError(yield* push(sender, event()), 403, "agent_blocked")
      }
      assert.strictEqual(yield* seen, before)
      clock.advance("1 minute")
      expectError(yield* heartbeat(agent), 403, "agent_blocked")
      assert.isAbove(Date.parse(String(yield* seen)), Date.parse(String(before)))
      // Another key for the same agent is another matter.
      assert.deepStrictEqual((yield* heartbeat(rekeyed(agent))).body, { accepted: false })
    }),
  )

  scenario("actions on all agents return how many they changed", () =>
    Effect.gen(function* () {
      const all = (action: string) =>
        Effect.map(operate("POST", `/api/v1/agents/admission/${action}`), ({ body }) => body)
      const rotating = yield* acceptedAgent()
      yield* heartbeat(rekeyed(rotating))
      yield* Effect.forEach([1, 2, 3], () => pendingAgent())
      assert.deepStrictEqual(yield* all("accept-all"), { count: 3 })
      yield* Effect.forEach([1, 2], () => pendingAgent())
      assert.deepStrictEqual(yield* all("accept-all?include_rotation=true"), { count: 3 })
      yield* heartbeat(rekeyed(rotating))
      yield* Effect.forEach([1, 2], () => pendingAgent())
      assert.deepStrictEqual(yield* all("remove-all"), { count: 2 })
      yield* pendingAgent()
      assert.deepStrictEqual(yield* all("block-all"), { count: 2 })
      assert.lengthOf(yield* itemsOf("/api/v1/agents"), 6)
      assert.lengthOf(yield* itemsOf(BLACKLIST), 2)
    }),
  )

  scenario(
    "heartbeats of one key are limited to 120 a minute after 60 at once",
    () =>
      Effect.gen(function* () {
        const { clock } = yield* Tocsin
        const agent = yield* acceptedAgent()
        const other = yield* acceptedAgent()
        for (let count = 1; count < 60; count++) assert.strictEqual((yield* heartbeat(agent)).status, 202)
        const refused = yield* heartbeat(agent)
        expectError(refused, 429, "rate_limited")
        assert.strictEqual(refused.headers["retry-after"], "1")
        // Neither others nor events are limited with it.
        assert.strictEqual((yield* heartbeat(other)).status, 202)
        for (let count = 0; count < 70; count++) assert.strictEqual((yield* push(agent, event())).status, 202)
        clock.advance("500 millis")
        assert.strictEqual((yield* heartbeat(agent)).status, 202)
        expectError(yield* heartbeat(agent), 429, "rate_limited")
        clock.advance("1 hour")
        for (let count = 0; count < 60; count++) assert.strictEqual((yield* heartbeat(agent)).status, 202)
        expectError(yield* heartbeat(agent), 429, "rate_limited")
      }),
    { rules: { heartbeatRate: { perMinute: 120, burst: 60 } } },
  )

  scenario(
    "registrations of one address are limited; known keys and other refusals do not count",
    () =>
      Effect.gen(function* () {
        const { clock, uiToken } = yield* Tocsin
        const known = yield* acceptedAgent()
        const forwarded = { "x-forwarded-for": "192.0.2.1" }
        const register = (agent: TestAgent, address = forwarded) =>
          call("POST", "/api/v1/heartbeat", {
            token: agent.key,
            json: heartbeatBody(agent),
            headers: address,
          })
        for (let count = 0; count < 5; count++) {
          expectError(yield* heartbeat(newAgent(), { hostname: "" }), 400, "validation")
          expectError(yield* call("POST", "/api/v1/heartbeat", { token: uiToken }), 401, "unauthorized")
          expectError(yield* push(newAgent(), event()), 403, "agent_not_accepted")
          assert.strictEqual((yield* heartbeat(known)).status, 202)
        }
        assert.strictEqual((yield* register(newAgent())).status, 202)
        assert.strictEqual((yield* register(newAgent())).status, 202)
        const late = newAgent()
        // The service does not believe an address that a client writes there itself.
        const refused = yield* register(late, { "x-forwarded-for": "192.0.2.2" })
        expectError(refused, 429, "rate_limited")
        assert.isAbove(Number(refused.headers["retry-after"]), 50)
        assert.lengthOf(yield* itemsOf("/api/v1/agents"), 3)
        assert.strictEqual((yield* heartbeat(known)).status, 202)
        clock.advance("1 minute")
        assert.deepStrictEqual((yield* register(late)).body, { accepted: false })
      }),
    { rules: { registrationRate: { perMinute: 1, burst: 3 } } },
  )

  scenario(
    "the number of pending agents is limited",
    () =>
      Effect.gen(function* () {
        const [first] = yield* Effect.forEach([1, 2], () => pendingAgent())
        const third = newAgent()
        const refused = yield* heartbeat(third)
        expectError(refused, 429, "rate_limited")
        assert.lengthOf(yield* itemsOf("/api/v1/agents"), 2)
        if (first === undefined) return
        assert.strictEqual((yield* heartbeat(first)).status, 202)
        assert.deepStrictEqual((yield* operate("POST", `${agentPath(first)}/accept`)).body, { count: 1 })
        // A replacement key makes no agent pending.
        assert.deepStrictEqual((yield* heartbeat(third)).body, { accepted: false })
        assert.deepStrictEqual((yield* heartbeat(rekeyed(first))).body, { accepted: false })
        expectError(yield* heartbeat(newAgent()), 429, "rate_limited")
      }),
    { rules: { maxPendingAgents: 2 } },
  )
}
