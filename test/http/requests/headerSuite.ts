import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { call, operate } from "../client/call.ts"
import { exchange, requestText, statusesOf } from "../client/exchange.ts"
import { onStorage } from "../onStorage.ts"
import { heartbeatBody, newAgent } from "../client/TestAgent.ts"

/** Headers that the service has no use for, or that something below it may stumble over. */
const odd: ReadonlyArray<readonly [name: string, value: string]> = [
  ["host", ""],
  ["host", "a b"],
  ["host", "["],
  ["host", "[::1"],
  ["host", "%"],
  ["host", "tocsin:99999999"],
  ["host", "tocsin:port"],
  ["host", "http://tocsin/"],
  ["host", "user:word@tocsin"],
  ["host", "\u00e9"],
  ["traceparent", "nonsense"],
  ["traceparent", "00-00000000000000000000000000000000-0000000000000000-00"],
  ["traceparent", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
  ["tracestate", "=,=,="],
  ["b3", "-"],
  ["b3", "nonsense-1-2-3-4-5"],
  ["x-b3-traceid", "zz"],
  ["baggage", "a=%zz"],
  ["cookie", "a=%E0%A4%A; b; =; __proto__=x"],
  ["x-forwarded-for", "not an address, , ::, 999.1.1.1"],
  ["x-forwarded-proto", "javascript"],
  ["x-forwarded-host", "["],
  ["forwarded", "for=;;;"],
  ["x-http-method-override", "DELETE"],
  ["x-original-url", "/api/v1/nowhere"],
  ["accept", "image/png;q=nonsense"],
  ["accept-encoding", "gzip, br, *;q=0"],
  ["accept-language", ";;;"],
  ["range", "bytes=0-0"],
  ["if-none-match", "*"],
  ["if-modified-since", "Thu, 01 Jan 2099 00:00:00 GMT"],
  ["expect", "the unexpected"],
  ["upgrade", "h2c"],
  ["te", "trailers, deflate"],
  ["origin", "null"],
  ["constructor", "x"],
  ["__proto__", "x"],
  ["hasOwnProperty", "x"],
]

/** Headers outside the contract. */
export const headerSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { together } = onStorage(subject)

  together("headers", (it) => {
    it.effect.each(odd)("%s: %s changes nothing", ([name, value]) =>
      Effect.gen(function* () {
        const headers = { [name]: value }
        const health = yield* call("GET", "/api/v1/health", { headers })
        assert.deepStrictEqual([health.status, health.body], [200, { status: "ok" }])
        assert.isUndefined(health.headers["content-encoding"])
        const agent = newAgent()
        const heartbeat = yield* call("POST", "/api/v1/heartbeat", {
          token: agent.key,
          json: heartbeatBody(agent),
          headers,
        })
        assert.deepStrictEqual([heartbeat.status, heartbeat.body], [202, { accepted: false }])
        assert.strictEqual(
          (yield* operate("GET", `/api/v1/agents/${agent.agent_id}?x=1`, { headers })).status,
          200,
        )
        assert.strictEqual((yield* call("GET", "/api/v1/nowhere", { headers })).status, 404)
      }),
    )

    it.effect("a preflight is answered like any other unknown method", () =>
      Effect.gen(function* () {
        const headers = { origin: "https://example.org", "access-control-request-method": "GET" }
        const answer = yield* call("OPTIONS", "/api/v1/agents", { headers })
        assert.strictEqual(answer.status, 404)
        assert.isUndefined(answer.headers["access-control-allow-origin"])
      }),
    )

    it.effect("trailers do not authenticate", () =>
      Effect.gen(function* () {
        const agent = newAgent()
        const json = JSON.stringify(heartbeatBody(agent))
        const trailer = `Authorization: Bearer ${agent.key}\r\nX-Request-Id: late`
        const text = `${Buffer.byteLength(json).toString(16)}\r\n${json}\r\n0\r\n${trailer}\r\n\r\n`
        const received = yield* exchange(
          requestText(
            "POST /api/v1/heartbeat",
            { "Transfer-Encoding": "chunked", Connection: "close" },
            text,
          ),
        )
        assert.deepStrictEqual(statusesOf(received), [401])
        assert.notMatch(received.text, /late/)
      }),
    )
  })
}
