import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { endpoints, pathOf } from "../contract/endpoints.ts"
import { errorOf, expectError } from "../client/expectError.ts"
import { onStorage } from "../onStorage.ts"
import { acceptedAgent, heartbeat, newAgent, pendingAgent } from "../client/TestAgent.ts"

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"]

/** The methods of each path of the table. */
const methodsOf = new Map<string, ReadonlyArray<string>>()
for (const endpoint of endpoints) {
  const path = pathOf(endpoint)
  const more = endpoint.method === "GET" ? ["GET", "HEAD"] : [endpoint.method]
  methodsOf.set(path, [...(methodsOf.get(path) ?? []), ...more])
}

const unknownPaths = [
  "/api",
  "/api/v1",
  "/api/v1/",
  "/api/v1/agent",
  "/api/v1/agents/a/",
  "/api/v1/agents/a/b",
  "/api/v1/agents/a/accept/",
  "/api/v1/agents/a/accept/now",
  "/api/v1/agents/admission/blacklist/a/b",
  "/api/v1/events/",
  "/api/v1/health/",
  "/api/v1/health%2F",
  "/api/v1/health;v=1",
  "/api/v1/HEALTH",
  "/API/v1/health",
  "/api/v2/health",
  "/api/v1//health",
  "//api/v1/health",
  "/api/v1/../v1/health",
  "/api\\v1\\health",
  "/api/v1/health#",
  "/api/v1/health#x",
  "/api/v1/./health",
  "/api%2Fv1%2Fhealth",
  "/health",
  "*",
]

const byPath = Array.from(methodsOf)

const inOrder = (names: ReadonlyArray<string>): ReadonlyArray<string> => names.toSorted()

/** The resource at each path (path before token, docs/rules.md#health-and-readiness). */
export const pathSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { together, scenario } = onStorage(subject)

  together("requests", (it) => {
    it.effect.each(byPath)(
      "%s answers other methods with 404 and Allow before it checks a token",
      ([path, known]) =>
        Effect.gen(function* () {
          for (const method of methods.filter((candidate) => !known.includes(candidate))) {
            const answer = yield* call(method, path)
            assert.strictEqual(answer.status, 404, method)
            if (method !== "HEAD") assert.strictEqual(errorOf(answer).code, "not_found")
            const allowed = (answer.headers.allow ?? "").split(", ")
            assert.deepStrictEqual(inOrder(allowed), inOrder(known), method)
          }
        }),
    )

    it.effect.each(unknownPaths)("%s does not exist", (path) =>
      Effect.gen(function* () {
        for (const token of [undefined, "wrong"]) {
          const answer = yield* call("GET", path, { token })
          expectError(answer, 404, "not_found")
          assert.isUndefined(answer.headers.allow)
        }
      }),
    )

    it.effect("an empty or long query is no part of the path", () =>
      Effect.gen(function* () {
        for (const query of ["?", "?x", "?x=/../..", "?a=b?c=d", "?%", `?x=${"y".repeat(10_000)}`]) {
          assert.strictEqual((yield* call("GET", `/api/v1/health${query}`)).status, 200, query)
          assert.strictEqual((yield* operate("GET", `/api/v1/agents${query}`)).status, 200, query)
          expectError(yield* call("GET", `/api/v1/nothing${query}`), 404, "not_found")
        }
      }),
    )

    it.effect("an agent ID in a path is decoded, then validated", () =>
      Effect.gen(function* () {
        const { agent_id } = yield* pendingAgent("web-01.a_b:c")
        for (const path of [agent_id, "web%2D01.a_b:c", "web-01.a_b%3Ac", "%77eb-01.a_b:c"]) {
          assert.strictEqual((yield* operate("GET", `/api/v1/agents/${path}`)).status, 200, path)
        }
        const refused = [
          "a%2Fb",
          "a%20b",
          "a%00",
          "%C3%A9",
          "a+b",
          "a%25",
          "a;b",
          "a,b",
          "@",
          "a%0A",
          "a".repeat(129),
          "a".repeat(10_000),
        ]
        for (const path of refused) {
          const message = expectError(
            yield* operate("GET", `/api/v1/agents/${path}`),
            400,
            "validation",
            path,
          )
          assert.match(message, /^agent_id must be /)
        }
      }),
    )

    it.effect("an empty parameter is not found", () =>
      Effect.gen(function* () {
        for (const [method, path] of [
          ["GET", "/api/v1/agents/"],
          ["DELETE", "/api/v1/agents/"],
          ["POST", "/api/v1/agents//block"],
          ["DELETE", "/api/v1/agents/admission/blacklist/"],
        ] as const) {
          assert.include([400, 404], (yield* operate(method, path)).status, path)
          assert.include([401, 404], (yield* call(method, path)).status, path)
        }
      }),
    )

    it.effect("an undecodable path is refused, not a failure of the service", () =>
      Effect.gen(function* () {
        for (const path of ["%", "%zz", "%E0%A4%A", "%FF", "%C0%AF", "a%", "%u0041"]) {
          for (const method of ["GET", "DELETE"]) {
            const answer = yield* operate(method, `/api/v1/agents/${path}`)
            assert.include([400, 404], answer.status, path)
          }
        }
      }),
    )
  })

  scenario("only the whole path names an agent", () =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent("victim")
      for (const path of [
        "victim;x",
        "victim#x",
        "victim\\",
        "victim\\..",
        "..\\victim",
        "victim%5C",
        "victim%23x",
        "victim%3Fx",
        "victim%00",
        "./victim",
        "victim/",
        "victim%20",
      ]) {
        const { status } = yield* operate("DELETE", `/api/v1/agents/${path}`)
        assert.include([400, 404], status, path)
      }
      assert.deepStrictEqual((yield* heartbeat(agent)).body, { accepted: true })
    }),
  )

  scenario("IDs that are also path segments or JavaScript names work", () =>
    Effect.gen(function* () {
      for (const agent_id of [
        "admission",
        "accept",
        ".",
        "..",
        "__proto__",
        "constructor",
        "-",
        ":",
        "a:b",
      ]) {
        const agent = newAgent(agent_id)
        assert.deepStrictEqual((yield* heartbeat(agent)).body, { accepted: false })
        // Clients and proxies resolve the segments . and .., also as %2E.
        const encoded = agent_id.replaceAll(".", "%2E")
        const twice = agent_id.replaceAll(".", "%252e")
        for (const text of [encodeURIComponent(agent_id), agent_id, encoded, twice]) {
          const path = `/api/v1/agents/${text}`
          const found = yield* operate("GET", path)
          assert.deepInclude(found.body, { agent_id, admission_state: "pending" }, path)
        }
        assert.deepStrictEqual((yield* operate("POST", `/api/v1/agents/${agent_id}/accept`)).body, {
          count: 1,
        })
        assert.deepStrictEqual((yield* operate("POST", `/api/v1/agents/${agent_id}/block`)).body, {
          count: 1,
        })
        expectError(yield* operate("DELETE", `/api/v1/agents/${agent_id}`), 404, "not_found")
      }
    }),
  )

  describe("X-Request-Id", () => {
    scenario("is the client's if it is valid, on successes and errors", () =>
      Effect.gen(function* () {
        const kept = ["a", "A-z.0_9:", "x".repeat(128), "0190a5d0-0000-7000-8000-000000000000"]
        const replaced = ["", " ", "x".repeat(129), "a b", "a,b", "a/b", "caf\u00e9", "<script>", "a\tb"]
        for (const id of [...kept, ...replaced]) {
          const headers = { "x-request-id": id }
          // `call` checks the answer against the rule.
          for (const path of ["/api/v1/health", "/api/v1/agents", "/api/v1/nothing"])
            yield* call("GET", path, { headers })
        }
      }),
    )

    scenario("differs for each request", () =>
      Effect.gen(function* () {
        const ids = new Set<unknown>()
        for (let count = 0; count < 50; count++)
          ids.add((yield* call("GET", "/api/v1/health")).headers["x-request-id"])
        assert.strictEqual(ids.size, 50)
      }),
    )

    scenario("is replaced when it is sent twice", () =>
      Effect.gen(function* () {
        const answer = yield* call("GET", "/api/v1/health", { headers: { "x-request-id": ["a", "b"] } })
        assert.notInclude(["a", "b", "a, b"], answer.headers["x-request-id"])
      }),
    )
  })
}
