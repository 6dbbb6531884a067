import { assert } from "@effect/vitest"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { RequiredRole } from "@tocsin/contract/api/operation"
import { includesRole, Role } from "@tocsin/contract/operators/Operators"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { Context, Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { call, operate } from "../client/call.ts"
import { expectError } from "../client/expectError.ts"
import { event, heartbeatBody, newAgent } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin } from "../service/Tocsin.ts"

/** Names in paths, of nothing that exists. */
const NAMES: Readonly<Record<string, string>> = {
  agent_id: "nobody",
  check_id: "nothing",
  key_id: "0".repeat(64),
  id: "0192a3b4-0000-7000-8000-000000000000",
  notifier: "debug",
  name: "nobody",
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly role: Role
}

const { agents: _agents, placeWatches: _placeWatches, signIn: _signIn, ...ofOperators } = OpsApi.groups
const groups = [TocsinApi.groups.operators, ...Object.values(ofOperators)]

/** Every operation of operators, from the definition of the API. */
const operations: ReadonlyArray<Operation> = groups.flatMap(({ endpoints }) =>
  Object.values<HttpApiEndpoint.Top>(endpoints).map(({ annotations, method, name, path }) => ({
    method,
    path: path.replaceAll(/:(\w+)/g, (_, parameter: string) => NAMES[parameter] ?? assert.fail(parameter)),
    role: Context.getOrElse(annotations, RequiredRole, () => assert.fail(`${name} states no role`)),
  })),
)

const created = Effect.fnUntraced(function* (body: object) {
  const answer = yield* operate("POST", "/ops/v1/operators", { json: body })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body as { readonly name: string; readonly token: string }
})

/** The rights of each role, and the life of tokens (docs/rules.md#operators). */
export const operatorSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("every operation is open to its role and those above, and closed to those below", () =>
    Effect.gen(function* () {
      const { readToken, uiToken } = yield* Tocsin
      const holders: Array<readonly [role: Role, token: string]> = [
        ["admin", uiToken],
        ["read", readToken],
      ]
      for (const role of Role.literals) holders.push([role, (yield* created({ name: role, role })).token])
      assert.isAbove(operations.length, 25)
      for (const { method, path, role: needed } of operations) {
        for (const [role, token] of holders) {
          const answer = yield* call(method, path, { token })
          const text = `${method} ${path} as ${role}: ${answer.text}`
          if (includesRole(role, needed)) assert.notInclude([401, 403], answer.status, text)
          else expectError(answer, 403, "forbidden", text)
        }
      }
    }),
  )

  scenario("me says whose token it is", () =>
    Effect.gen(function* () {
      const { readToken } = yield* Tocsin
      const expires_at = "2099-01-01T00:00:00.000Z"
      const { token } = yield* created({ name: "ann", role: "respond", expires_at })
      assert.deepStrictEqual((yield* call("GET", "/ops/v1/me", { token })).body, {
        name: "ann",
        role: "respond",
        expires_at,
        acknowledges_for: "8h",
      })
      const reader = (yield* call("GET", "/ops/v1/me", { token: readToken })).body
      assert.match(
        JSON.stringify(reader),
        /^\{"name":"token-[0-9a-f]{8}","role":"read","acknowledges_for":"8h"\}$/,
      )
    }),
  )

  scenario("an operator's token ends when it is removed, replaced or expired", () =>
    Effect.gen(function* () {
      const { clock } = yield* Tocsin
      const status = (token: string) =>
        Effect.map(call("GET", "/api/v1/agents", { token }), (answer) => answer.status)
      const { token } = yield* created({ name: "ann", role: "admin" })
      assert.match(token, /^tocsin_[A-Za-z0-9_-]{43}$/)
      expectError(
        yield* operate("POST", "/ops/v1/operators", { json: { name: "ann", role: "read" } }),
        409,
        "conflict",
      )
      const path = "/ops/v1/operators/ann"
      const rotate = Effect.fnUntraced(function* (json: object) {
        return ((yield* operate("POST", `${path}/rotate`, { json })).body as { token: string }).token
      })
      const second = yield* rotate({})
      assert.deepStrictEqual([yield* status(token), yield* status(second)], [200, 200])
      clock.advance("24 hours")
      assert.deepStrictEqual([yield* status(token), yield* status(second)], [401, 200])
      const third = yield* rotate({ grace: "0s" })
      assert.deepStrictEqual([yield* status(second), yield* status(third)], [401, 200])

      const inAnHour = new Date(clock.currentTimeMillisUnsafe() + 3_600_000).toISOString()
      const changed = yield* operate("PATCH", path, { json: { role: "read", expires_at: inAnHour } })
      assert.deepInclude(changed.body, { name: "ann", role: "read", expires_at: inAnHour })
      assert.notProperty(changed.body, "token")
      expectError(yield* call("POST", `${path}/rotate`, { token: third, json: {} }), 403, "forbidden")
      assert.strictEqual(yield* status(third), 200)
      clock.advance("1 hour")
      expectError(yield* call("GET", "/api/v1/agents", { token: third }), 401, "unauthorized")

      yield* operate("PATCH", path, { json: { expires_at: null } })
      assert.strictEqual(yield* status(third), 200)
      assert.deepStrictEqual((yield* operate("DELETE", path)).body, { count: 1 })
      expectError(yield* call("GET", "/api/v1/agents", { token: third }), 401, "unauthorized")
      assert.deepStrictEqual((yield* operate("DELETE", path)).body, { count: 0 })
    }),
  )

  scenario("bad requests are refused, with the name of the field", () =>
    Effect.gen(function* () {
      const refused = Effect.fnUntraced(function* (
        method: string,
        path: string,
        json: object,
        field: string,
      ) {
        const message = expectError(yield* operate(method, path, { json }), 400, "validation")
        assert.include(message, field)
      })
      for (const name of ["token-1", "cli:ann", "Ann", "", "-a", "a".repeat(64)])
        yield* refused("POST", "/ops/v1/operators", { name, role: "read" }, "name")
      yield* refused("POST", "/ops/v1/operators", { name: "ann", role: "root" }, "role")
      yield* refused("POST", "/ops/v1/operators", { name: "ann", role: "read", token: "x" }, "token")
      const past = { expires_at: "2020-01-01T00:00:00Z" }
      yield* refused("POST", "/ops/v1/operators", { name: "ann", role: "read", ...past }, "expires_at")
      yield* created({ name: "ann", role: "read" })
      yield* refused("PATCH", "/ops/v1/operators/ann", past, "expires_at")
      for (const grace of ["8d", "1", "-1s"])
        yield* refused("POST", "/ops/v1/operators/ann/rotate", { grace }, "grace")
      for (const [method, path] of [
        ["PATCH", "/ops/v1/operators/bob"],
        ["POST", "/ops/v1/operators/bob/rotate"],
      ] as const)
        expectError(yield* operate(method, path, { json: {} }), 404, "not_found")
    }),
  )

  scenario("an operator's token is no agent key, whether it is valid or not", () =>
    Effect.gen(function* () {
      const { token } = yield* created({ name: "ann", role: "admin" })
      const agent = newAgent()
      for (const presented of [token, `tocsin_${"x".repeat(43)}`]) {
        const heartbeat = { token: presented, json: heartbeatBody(agent) }
        expectError(yield* call("POST", "/api/v1/heartbeat", heartbeat), 401, "unauthorized")
        const events = { agent_id: agent.agent_id, events: [event()] }
        const batch = yield* call("POST", "/api/v1/events", { token: presented, json: events })
        expectError(batch, 401, "unauthorized")
        const path = `/ops/v1/agents/${agent.agent_id}/expectations`
        const declaration = yield* call("PUT", path, { token: presented, json: { checks: [] } })
        expectError(declaration, 401, "unauthorized")
        for (const json of [{ unknown: true }, { output: "x".repeat(1_048_576) }])
          for (const [method, to] of [
            ["POST", "/api/v1/heartbeat"],
            ["POST", "/api/v1/events"],
            ["PUT", path],
          ] as const)
            expectError(yield* call(method, to, { token: presented, json }), 401, "unauthorized")
      }
      assert.deepInclude((yield* operate("GET", "/api/v1/agents")).body, { items: [] })
    }),
  )
}
