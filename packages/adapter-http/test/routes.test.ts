import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { shownPath } from "../src/routes.ts"
import { errorOf, send } from "./http.ts"
import { testServer } from "./TestServer.ts"

/** The endpoint table of the contract: method, path, status of success. */
const contract = [
  "GET /api/v1/health 200",
  "GET /api/v1/ready 200",
  "POST /api/v1/heartbeat 202",
  "POST /api/v1/events 202",
  "GET /api/v1/agents 200",
  "GET /api/v1/agents/:agent_id 200",
  "DELETE /api/v1/agents/:agent_id 200",
  "POST /api/v1/agents/:agent_id/accept 200",
  "POST /api/v1/agents/:agent_id/block 200",
  "POST /api/v1/agents/admission/accept-all 200",
  "POST /api/v1/agents/admission/block-all 200",
  "POST /api/v1/agents/admission/remove-all 200",
  "GET /api/v1/agents/admission/blacklist 200",
  "DELETE /api/v1/agents/admission/blacklist 200",
  "DELETE /api/v1/agents/admission/blacklist/:key_id 200",
  "GET /api/v1/checks 200",
  "GET /api/v1/incidents 200",
  "GET /api/v1/events/query 200",
  "GET /api/v1/system-summary 200",
  "GET /api/v1/notifiers/outbox 200",
]

interface Route {
  readonly method: string
  readonly path: string
  readonly success: ReadonlyArray<number>
}

const routes: Array<Route> = []
HttpApi.reflect(TocsinApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, successes }) =>
    routes.push({ method: endpoint.method, path: endpoint.path, success: Array.from(successes.keys()) }),
})

it("the definition holds the endpoints of the contract", () => {
  const defined = routes.map(({ method, path, success }) => `${method} ${path} ${success.join()}`)
  assert.deepStrictEqual(defined.toSorted(), contract.toSorted())
})

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

const knownAt = (path: string): ReadonlyArray<string> =>
  routes
    .filter((route) => route.path === path)
    .flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]))

layer(testServer(), { excludeTestServices: true })("served is", (it) => {
  const paths = Array.from(new Set(routes.map(({ path }) => path)))

  it.effect.each(paths)("%s with the methods of the definition, and no other", (path) =>
    Effect.gen(function* () {
      // No name of an agent is a fixed part of a path, and the other way round.
      const concrete = path.replaceAll(/:\w+/g, "x")
      for (const method of methods) {
        const received = yield* send(method, concrete)
        if (knownAt(path).includes(method)) {
          assert.include([200, 401], received.status, method)
        } else {
          assert.strictEqual(received.status, 404, method)
          assert.sameMembers((received.headers["allow"] ?? "").split(", "), [...knownAt(path)], method)
          if (method !== "HEAD") assert.strictEqual(errorOf(received).code, "not_found")
        }
      }
    }),
  )
})

it("a path in the log has no key and no token, also where it is slightly wrong", () => {
  for (const path of [
    "/in/ping/SECRET/backup",
    "/in/SECRET",
    "//in/ping/SECRET",
    "/in//push/SECRET",
    "/IN/ping/SECRET",
    "/a/SECRET",
    "//A/SECRET",
  ])
    assert.match(shownPath(path), /^[/A-Za-z]+…$/, path)
  const key = `in_${"a".repeat(43)}`
  for (const before of ["/", "/tocsin/in/ping/", "/api/push/", "/in/other/", "/ping/"])
    assert.notInclude(shownPath(`${before}${key}/backup`), "aaa", before)
  assert.strictEqual(shownPath("/api/v1/agents/in_house"), "/api/v1/agents/in_house")
  assert.strictEqual(shownPath("/api/v1/agents?x=1"), "/api/v1/agents")
})
