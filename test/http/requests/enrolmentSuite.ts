import { assert } from "@effect/vitest"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { itemsOf } from "../client/itemsOf.ts"
import {
  acceptedAgent,
  block,
  heartbeat,
  heartbeatBody,
  newAgent,
  pendingAgent,
  type TestAgent,
} from "../client/TestAgent.ts"
import { newToken } from "../service/Observatory.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"

const ENROLMENTS = "/ops/v1/enrolments"

/** Creates an enrolment; from then on, nothing may contain its token. */
const created = Effect.fnUntraced(function* (json: object = {}) {
  const answer = yield* operate("POST", ENROLMENTS, { json })
  assert.strictEqual(answer.status, 201, answer.text)
  // An answer of 201 has this shape.
  const shown = answer.body as { readonly id: string; readonly token: string }
  const { observatory } = yield* Tocsin
  observatory.forbid(shown.token)
  return shown
})

const enrol = ({ agent_id, key }: TestAgent, token: unknown) =>
  call("PUT", `/ops/v1/agents/${agent_id}/enrolment`, {
    token: key,
    json: { token },
    headers: { "x-request-id": "enrolling" },
  })

const stateOf = ({ agent_id }: TestAgent) =>
  Effect.map(operate("GET", `/api/v1/agents/${agent_id}`), ({ body }) => {
    // The agent of the API.
    return (body as { readonly admission_state: string }).admission_state
  })

/** Agents that are accepted by a token (docs/rules.md#enrolment). */
export const enrolmentSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("a server that hands out no agent says so", () =>
    Effect.map(operate("GET", "/ops/v1/agent_download"), (answer) => expectError(answer, 404, "not_found")),
  )

  scenario("a token admits as many pending agents as it has uses, until it ends", () =>
    Effect.gen(function* () {
      const { clock } = yield* Tocsin
      const { id, token } = yield* created({ uses: 2 })
      assert.match(token, /^enrol_[A-Za-z0-9_-]{43}$/)
      const [first, second, third] = [yield* pendingAgent(), yield* pendingAgent(), yield* pendingAgent()]
      for (const _ of [1, 2]) {
        const answer = yield* enrol(first, token)
        assert.deepStrictEqual([answer.status, answer.body], [200, { accepted: true }])
      }
      assert.strictEqual(yield* stateOf(first), "accepted")
      assert.strictEqual((yield* enrol(second, token)).status, 200)
      expectError(yield* enrol(third, token), 404, "not_found")
      assert.strictEqual(yield* stateOf(third), "pending")
      const [row] = yield* itemsOf(ENROLMENTS)
      assert.deepInclude(row, { id, state: "used", uses: 2, used: 2, agent_id: null })

      const short = yield* created({ expires_in: "1m" })
      clock.advance("1 minute")
      expectError(yield* enrol(third, short.token), 404, "not_found")
      const removed = yield* created()
      assert.strictEqual((yield* operate("DELETE", `${ENROLMENTS}/${removed.id}`)).text, '{"count":1}')
      assert.strictEqual((yield* operate("DELETE", `${ENROLMENTS}/${removed.id}`)).text, '{"count":0}')
      expectError(yield* enrol(third, removed.token), 404, "not_found")

      const audit = yield* itemsOf(`/ops/v1/audit?actor=enrolment:${id}`)
      assert.lengthOf(audit, 2)
      for (const entry of audit)
        assert.deepInclude(entry, { action: "agent.accepted", via: "api", request_id: "enrolling" })
    }),
  )

  scenario("a token of one agent admits no other, and no token a replacement key", () =>
    Effect.gen(function* () {
      const [meant, other] = [yield* pendingAgent(), yield* pendingAgent()]
      const { token } = yield* created({ agent_id: meant.agent_id, uses: 3 })
      expectError(yield* enrol(other, token), 404, "not_found")
      assert.strictEqual((yield* enrol(meant, token)).status, 200)
      const next = { ...meant, key: newToken() }
      yield* heartbeat(next)
      expectError(yield* enrol(next, token), 409, "conflict")
      expectError(yield* enrol(newAgent(), token), 403, "agent_not_accepted")
      yield* block(other)
      expectError(yield* enrol(other, token), 403, "agent_blocked")
    }),
  )

  scenario("a token for any agent admits none that a watch names as a place", () =>
    Effect.gen(function* () {
      const [berlin, other] = [yield* pendingAgent("berlin"), yield* pendingAgent()]
      const tcp = { host: "home.example", port: 443 }
      const json = { name: "home", tcp, from: ["here", "berlin"], fails: "any" }
      assert.strictEqual((yield* operate("POST", "/ops/v1/watches", { json })).status, 201)
      const { token } = yield* created({ uses: 2 })
      expectError(yield* enrol(berlin, token), 409, "conflict")
      assert.strictEqual(yield* stateOf(berlin), "pending")
      // It took no use.
      assert.strictEqual((yield* enrol(other, token)).status, 200)
      const [row] = yield* itemsOf(ENROLMENTS)
      assert.deepInclude(row, { state: "open", used: 1 })
      const meant = yield* created({ agent_id: "berlin" })
      assert.strictEqual((yield* enrol(berlin, meant.token)).status, 200)
      assert.strictEqual(yield* stateOf(berlin), "accepted")
    }),
  )

  scenario(
    "a token that is not valid costs what a failed authentication costs",
    () =>
      Effect.gen(function* () {
        const agent = yield* pendingAgent()
        for (const connection of ["keep-alive", "keep-alive", "close", "close"]) {
          const refused = yield* enrol(agent, newToken())
          expectError(refused, 404, "not_found")
          assert.strictEqual(refused.headers["connection"], connection)
        }
        assert.strictEqual((yield* enrol(agent, (yield* created()).token)).status, 200)
      }),
    { rules: { failedAuthenticationRate: { perMinute: 1, burst: 2 } } },
  )

  scenario("tokens open nothing else, and only administrators make them", () =>
    Effect.gen(function* () {
      const { readToken, uiToken } = yield* Tocsin
      const { token } = yield* created()
      const agent = yield* acceptedAgent()
      const json = heartbeatBody(agent)
      expectError(yield* call("POST", "/api/v1/heartbeat", { token, json }), 401, "unauthorized")
      expectError(yield* call("GET", ENROLMENTS, { token }), 401, "unauthorized")
      expectError(yield* call("GET", ENROLMENTS, { token: readToken }), 403, "forbidden")
      expectError(yield* call("POST", ENROLMENTS, { token: readToken, json: {} }), 403, "forbidden")
      expectError(yield* enrol({ ...agent, key: uiToken }, token), 401, "unauthorized")
      for (const refused of [{ uses: 0 }, { uses: 1_001 }, { expires_in: "8d" }, { agent_id: "" }, { x: 1 }])
        expectError(yield* operate("POST", ENROLMENTS, { json: refused }), 400, "validation")
      for (const refused of [1, "", "x".repeat(513)])
        expectError(yield* enrol(agent, refused), 400, "validation")
      expectError(yield* operate("DELETE", `${ENROLMENTS}/x`), 400, "validation")
    }),
  )
}
