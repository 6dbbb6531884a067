import { assert, describe, it } from "@effect/vitest"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { routesOf, searchable } from "../src/routes.ts"

const { templateOf: routeOf } = searchable(routesOf(TocsinApi, "/openapi.json"))

describe("the route of a request", () => {
  it("is a template, whatever the path contains", () => {
    assert.strictEqual(routeOf("GET", "/api/v1/agents/web-1"), "/api/v1/agents/:agent_id")
    assert.strictEqual(routeOf("GET", "/api/v1/agents?limit=3"), "/api/v1/agents")
    assert.strictEqual(routeOf("POST", "/api/v1/agents/web-1/accept"), "/api/v1/agents/:agent_id/accept")
    assert.strictEqual(
      routeOf("GET", "/api/v1/agents/admission/blacklist"),
      "/api/v1/agents/admission/blacklist",
    )
  })

  it("is that of another method if its own is unknown, and unmatched if the path does not exist", () => {
    assert.strictEqual(routeOf("HEAD", "/api/v1/agents/web-1"), "/api/v1/agents/:agent_id")
    assert.strictEqual(routeOf("OPTIONS", "/api/v1/heartbeat"), "/api/v1/heartbeat")
    assert.strictEqual(routeOf("BREW", "/api/v1/heartbeat"), "/api/v1/heartbeat")
    assert.strictEqual(routeOf("GET", "/api/v1/nothing"), "unmatched")
    assert.strictEqual(routeOf("GET", "/wp-login.php"), "unmatched")
  })
})
