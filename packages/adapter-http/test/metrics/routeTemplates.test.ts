import { assert, describe, it } from "@effect/vitest"
import { Instruments } from "@tocsin/core/engine/metrics/Instruments"
import { TocsinApi } from "../../src/api.ts"
import { RequestMeter } from "../../src/metrics/RequestMeter.ts"
import { routeTemplates } from "../../src/metrics/routeTemplates.ts"
import { routesOf } from "../../src/response/allowedMethods.ts"

const routeOf = routeTemplates(routesOf(TocsinApi, "/openapi.json"))

describe("the route of a request", () => {
  it("is a template, whatever stands in the path", () => {
    assert.strictEqual(routeOf("GET", "/api/v1/agents/web-1"), "/api/v1/agents/:agent_id")
    assert.strictEqual(routeOf("GET", "/api/v1/agents?limit=3"), "/api/v1/agents")
    assert.strictEqual(routeOf("POST", "/api/v1/agents/web-1/accept"), "/api/v1/agents/:agent_id/accept")
    assert.strictEqual(
      routeOf("GET", "/api/v1/agents/admission/blacklist"),
      "/api/v1/agents/admission/blacklist",
    )
  })

  it("is that of another method where this one is not known, and unmatched where there is nothing", () => {
    assert.strictEqual(routeOf("HEAD", "/api/v1/agents/web-1"), "/api/v1/agents/:agent_id")
    assert.strictEqual(routeOf("OPTIONS", "/api/v1/heartbeat"), "/api/v1/heartbeat")
    assert.strictEqual(routeOf("BREW", "/api/v1/heartbeat"), "/api/v1/heartbeat")
    assert.strictEqual(routeOf("GET", "/api/v1/nothing"), "unmatched")
    assert.strictEqual(routeOf("GET", "/wp-login.php"), "unmatched")
  })
})

describe("RequestMeter", () => {
  it("counts unusual methods as one, so that nobody can make up more of them", () => {
    const instruments = new Instruments()
    const meter = new RequestMeter(instruments)
    meter.of("unmatched", "BREW").answered(404, 1)
    meter.of("unmatched", "PROPFIND").answered(404, 1)
    meter.of("/", "GET").answered(200, 1)
    const { readings } = instruments.httpRequests.read()
    assert.deepStrictEqual(readings, [
      { labels: ["unmatched", "other", "404"], value: 2 },
      { labels: ["/", "GET", "200"], value: 1 },
    ])
  })
})
