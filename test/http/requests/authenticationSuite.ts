import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { type Endpoint, endpoints, nameOf, pathOf } from "../contract/endpoints.ts"
import { expectError } from "../client/expectError.ts"
import { newToken } from "../service/Observatory.ts"
import { onStorage } from "../onStorage.ts"
import { acceptedAgent, agentPath, heartbeatBody, newAgent } from "../client/TestAgent.ts"
import { Tocsin } from "../service/Tocsin.ts"

/** Values of the header Authorization that are no bearer token, made of one that is. */
const malformed: ReadonlyArray<readonly [name: string, make: (token: string) => string]> = [
  ["an empty header", () => ""],
  ["the token alone", (token) => token],
  ["the scheme alone", () => "Bearer"],
  ["the scheme and a space", () => "Bearer "],
  ["another scheme", (token) => `Basic ${token}`],
  ["a longer scheme", (token) => `Bearers ${token}`],
  ["no space after the scheme", (token) => `Bearer${token}`],
  ["a tab after the scheme", (token) => `Bearer\t${token}`],
  ["a token with a space", (token) => `Bearer ${token} ${token}`],
  ["a token with a tab", (token) => `Bearer ${token}\t${token}`],
  ["a token of 513 characters", () => `Bearer ${newToken({ length: 513 })}`],
  ["a token with a letter that is not ASCII", (token) => `Bearer ${token}\u00e9`],
]

const secured = endpoints.filter(({ token }) => token !== "none")
const operators = secured.filter(({ token }) => token === "UI token")
const agents = secured.filter(({ token }) => token === "agent key")

/** A valid body of an agent endpoint. */
const attempt = (endpoint: Endpoint, authorization: string) =>
  call(endpoint.method, pathOf(endpoint), { headers: { authorization }, json: heartbeatBody(newAgent()) })

/** The permissions of each token (docs/rules.md#tokens). */
export const authenticationSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { together, scenario } = onStorage(subject)

  together("tokens", (it) => {
    describe.each(secured.map((endpoint) => [nameOf(endpoint), endpoint] as const))("%s", (_, endpoint) => {
      it.effect.each(malformed)("refuses %s", ([name, make]) =>
        Effect.gen(function* () {
          const { uiToken } = yield* Tocsin
          // One that would do if it were well formed.
          const token = endpoint.token === "UI token" ? uiToken : newToken()
          expectError(yield* attempt(endpoint, make(token)), 401, "unauthorized", name)
        }),
      )
    })

    it.effect.each(operators.map(nameOf))(
      "%s refuses near misses of an operator token, and agent keys",
      (name) =>
        Effect.gen(function* () {
          const endpoint = operators.find((candidate) => nameOf(candidate) === name) ?? assert.fail()
          const { uiToken, otherUiToken } = yield* Tocsin
          const { key } = yield* acceptedAgent()
          const almost = [uiToken.slice(1), uiToken.slice(0, -1), `${uiToken}x`, uiToken.toUpperCase()]
          for (const token of [...almost, `${uiToken},${otherUiToken}`, key]) {
            expectError(yield* attempt(endpoint, `Bearer ${token}`), 401, "unauthorized", token)
          }
        }),
    )

    it.effect("every operator token is valid, with the scheme in any letter case", () =>
      Effect.gen(function* () {
        const { uiToken, otherUiToken } = yield* Tocsin
        for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
          for (const token of [uiToken, otherUiToken]) {
            const headers = { authorization: `${scheme} ${token}` }
            assert.strictEqual((yield* call("GET", "/api/v1/system-summary", { headers })).status, 200)
          }
          const agent = newAgent()
          const headers = { authorization: `${scheme} ${agent.key}` }
          const answer = yield* call("POST", "/api/v1/heartbeat", { headers, json: heartbeatBody(agent) })
          assert.strictEqual(answer.status, 202)
        }
      }),
    )

    it.effect("an agent key has 1 to 512 visible characters", () =>
      Effect.gen(function* () {
        const visible = String.fromCharCode(...Array.from({ length: 94 }, (_, index) => 33 + index))
        for (const key of ["!", newToken({ length: 512 }), `${newToken()}${visible}`]) {
          const agent = { ...newAgent(), key }
          const json = heartbeatBody(agent)
          assert.strictEqual(
            (yield* call("POST", "/api/v1/heartbeat", { token: key, json })).status,
            202,
            key,
          )
          yield* operate("POST", `${agentPath(agent)}/accept`)
          // The same key again, to the last character.
          assert.deepStrictEqual((yield* call("POST", "/api/v1/heartbeat", { token: key, json })).body, {
            accepted: true,
          })
        }
      }),
    )
  })

  scenario("a read-only token can read everything and change nothing", () =>
    Effect.gen(function* () {
      const { readToken } = yield* Tocsin
      const agent = yield* acceptedAgent()
      for (const endpoint of operators) {
        const { method } = endpoint
        const path = pathOf(endpoint, { agent_id: agent.agent_id })
        const answer = yield* call(method, path, { token: readToken })
        if (method === "GET") {
          assert.strictEqual(answer.status, 200, path)
          assert.strictEqual((yield* call("HEAD", path, { token: readToken })).status, 200, path)
        } else expectError(answer, 403, "forbidden", path)
      }
      for (const endpoint of agents)
        expectError(yield* attempt(endpoint, `Bearer ${readToken}`), 401, "unauthorized")
      assert.strictEqual((yield* operate("GET", agentPath(agent))).status, 200)
      // No token is needed for unknown methods.
      expectError(yield* call("PUT", agentPath(agent), { token: readToken }), 404, "not_found")
    }),
  )

  scenario("an operator token is refused on agent endpoints, and registers nothing", () =>
    Effect.gen(function* () {
      const { uiToken, otherUiToken, readToken } = yield* Tocsin
      for (const token of [uiToken, otherUiToken, readToken]) {
        for (const endpoint of agents) {
          expectError(yield* attempt(endpoint, `Bearer ${token}`), 401, "unauthorized")
        }
      }
      assert.deepInclude((yield* operate("GET", "/api/v1/agents")).body, { items: [] })
    }),
  )

  scenario("health and readiness need no token, and ignore any", () =>
    Effect.gen(function* () {
      for (const path of ["/api/v1/health", "/api/v1/ready"]) {
        for (const authorization of [undefined, "nonsense", `Bearer ${newToken()}`]) {
          const answer = yield* call("GET", path, { headers: { ...(authorization && { authorization }) } })
          assert.deepStrictEqual([answer.status, answer.body], [200, { status: "ok" }])
        }
      }
    }),
  )
}
