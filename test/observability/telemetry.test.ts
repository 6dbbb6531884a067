import { assert, describe, it } from "@effect/vitest"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import { enroll, eventOf, report } from "../processes/Agent.ts"
import { call, OPERATOR_TOKEN, operate } from "../processes/api.ts"
import { scratchFolder } from "../processes/scratch.ts"
import { MARK, secretOf, webhookSecretOf } from "../processes/secrecy.ts"
import { rawConnection } from "../processes/RawConnection.ts"
import { type ServerProcess, startServer } from "../processes/ServerProcess.ts"
import { until } from "../processes/until.ts"
import { type OtlpCollector, startCollector, valuesOf } from "./OtlpCollector.ts"

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
const PARENT = "00f067aa0ba902b7"

/** A request with additional headers. */
const send = (
  { baseUrl }: ServerProcess,
  path: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body?: unknown },
) =>
  Effect.promise(async () => {
    const response = await fetch(`${baseUrl}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return {
      status: response.status,
      text: await response.text(),
      requestId: response.headers.get("x-request-id"),
    }
  })

const startWith = Effect.fnUntraced(function* (
  collector: OtlpCollector,
  settings: Readonly<Record<string, string>> = {},
) {
  return yield* startServer({
    cwd: yield* scratchFolder,
    environment: {
      SERVICE_AUTH_TOKEN: OPERATOR_TOKEN,
      DATABASE_URL: "memory:",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      ...settings,
    },
  })
})

const parsed = ({ output }: ServerProcess): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  output.stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

/** A receiver of webhooks that only notes their headers. */
const headersReceiver = Effect.gen(function* () {
  const arrivals: Array<IncomingMessage["headers"]> = []
  const server = createServer((request, response) => {
    arrivals.push(request.headers)
    request.resume()
    request.on("end", () => response.writeHead(204).end())
  })
  const port = yield* Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      // A server that listens on TCP has such an address.
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
    }),
    () => Effect.sync(() => void server.close()),
  )
  return { arrivals, url: `http://127.0.0.1:${port}/${secretOf("path")}` }
})

/** Sends a heartbeat as the front takes it, and waits for its answer. */
const heartbeatInOneRead = Effect.fnUntraced(function* ({ baseUrl }: ServerProcess, fields: string) {
  const connection = yield* rawConnection(Number(new URL(baseUrl).port))
  const body = JSON.stringify({
    agent_id: "web-1",
    observed_at: new Date().toISOString(),
    hostname: "web-1",
    features: { push: true, metrics: false },
  })
  const head = `POST /api/v1/heartbeat HTTP/1.1\r\nHost: tocsin\r\nAuthorization: Bearer ${"k".repeat(43)}\r\n`
  yield* connection.write(`${head}${fields}Content-Length: ${body.length}\r\n\r\n${body}`)
  yield* until(
    "the heartbeat is answered",
    Effect.sync(() => connection.received().startsWith("HTTP/1.1 202 ")),
  )
})

describe("traces and logs of a server", () => {
  it.live("go to a collector in the caller's trace, and a webhook continues its own", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector
      const receiver = yield* headersReceiver
      const server = yield* startWith(collector, {
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secretOf("collector")}`,
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=tests",
        OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
        SERVICE_WEBHOOK_URL: receiver.url,
        SERVICE_WEBHOOK_SECRET: webhookSecretOf("webhook"),
        SERVICE_METRICS_TOKEN: secretOf("scraper"),
      })
      const agent = yield* enroll(server, "web-1")
      const traced = yield* send(server, "/api/v1/events?token=" + agent.key, {
        headers: {
          authorization: `Bearer ${agent.key}`,
          traceparent: `00-${TRACE}-${PARENT}-01`,
          "x-request-id": "the-traced-one",
        },
        body: { agent_id: "web-1", events: [eventOf({ check_id: "disk", status: "critical" })] },
      })
      assert.strictEqual(traced.status, 202)
      yield* Effect.orDie(call(server, "GET", `/api/v1/agents?limit=${agent.key}`, { token: agent.key }))
      // A name without a value, as of a token that was put at the wrong place.
      yield* Effect.orDie(call(server, "GET", `/api/v1/agents?${agent.key}`, { token: agent.key }))
      yield* Effect.orDie(call(server, "GET", "/metrics", { token: secretOf("scraper") }))
      yield* until(
        "the webhook has come",
        Effect.sync(() => receiver.arrivals.length > 0),
      )
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })

      const ofTrace = collector.spans.filter(({ of }) => of.traceId === TRACE)
      const request = ofTrace.find(({ of }) => of.parentSpanId === PARENT)
      assert.strictEqual(request?.of.name, "POST /api/v1/events")
      assert.strictEqual(request?.resource["service.name"], "tocsin")
      assert.strictEqual(request?.resource["deployment.environment.name"], "tests")
      const attributes = valuesOf(request?.of.attributes ?? [])
      assert.strictEqual(attributes["http.route"], "/api/v1/events")
      assert.strictEqual(Number(attributes["http.response.status_code"]), 202)
      assert.strictEqual(attributes["tocsin.request_id"], "the-traced-one")
      const transaction = ofTrace.find(({ of }) => of.name === "Storage.transact")
      assert.isDefined(transaction)

      const [webhook] = receiver.arrivals
      const delivery = collector.spans.find(
        ({ of }) => of.name === "Notifier.send" && valuesOf(of.attributes)["tocsin.notifier"] === "webhook",
      )
      assert.strictEqual(webhook?.["traceparent"], `00-${delivery?.of.traceId}-${delivery?.of.spanId}-01`)

      const logged = collector.records.find(
        ({ of }) => valuesOf(of.attributes)["request_id"] === "the-traced-one",
      )
      assert.strictEqual(logged?.of.traceId, TRACE)
      const line = parsed(server).find(({ request_id }) => request_id === "the-traced-one")
      assert.strictEqual(line?.["trace_id"], TRACE)
      assert.strictEqual(line?.["level"], "debug")
      for (const { headers, body } of collector.requests) {
        assert.strictEqual(headers["authorization"], `Bearer ${secretOf("collector")}`)
        assert.notInclude(body.toString("utf8"), MARK)
        assert.notInclude(body.toString("utf8"), Buffer.from(MARK).toString("base64").slice(0, -4))
      }
    }),
  )

  it.live("are chosen by the sampler, which follows the caller by default", () =>
    Effect.gen(function* () {
      const askFor = Effect.fnUntraced(function* (sampler: string, flags: string) {
        const collector = yield* startCollector
        const server = yield* startWith(collector, {
          OTEL_TRACES_SAMPLER: sampler,
          OTEL_LOGS_EXPORTER: "none",
        })
        yield* send(server, "/api/v1/health", { headers: { traceparent: `00-${TRACE}-${PARENT}-${flags}` } })
        yield* send(server, "/api/v1/health", { headers: {} })
        yield* heartbeatInOneRead(server, `Traceparent: 00-${TRACE}-${PARENT}-${flags}\r\n`)
        yield* heartbeatInOneRead(server, "")
        yield* server.stop
        assert.deepStrictEqual(collector.records, [])
        const heartbeats = collector.spans.filter(({ of }) => of.name === "POST /api/v1/heartbeat")
        const decisions = collector.spans.filter(
          ({ of }) => of.name === "Storage.transact" && of.parentSpanId,
        )
        // A first heartbeat has two decisions: whether the key is known, and its registration.
        assert.deepStrictEqual(
          new Set(decisions.map(({ of }) => of.parentSpanId)),
          new Set(heartbeats.map(({ of }) => of.spanId)),
        )
        const ofCallersAgent = heartbeats.filter(({ of }) => of.traceId === TRACE).length
        const health = collector.spans.filter(({ of }) => of.name === "GET /api/v1/health")
        const ofCaller = health.filter(({ of }) => of.traceId === TRACE).length
        assert.deepStrictEqual([ofCallersAgent, heartbeats.length], [ofCaller, health.length])
        return [ofCaller, health.length - ofCaller]
      })
      const told = yield* Effect.all([
        askFor("parentbased_always_on", "00"),
        askFor("always_on", "00"),
        askFor("parentbased_always_off", "01"),
      ])
      assert.deepStrictEqual(told, [
        [0, 1],
        [1, 1],
        [1, 0],
      ])
    }),
  )

  it.live("use protobuf by default or JSON, and are off without settings", () =>
    Effect.gen(function* () {
      const collector = yield* startCollector
      const server = yield* startWith(collector, { OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" })
      yield* operate(server, "GET", "/api/v1/agents")
      yield* server.stop
      const paths = new Set(collector.requests.map(({ path }) => path))
      assert.deepStrictEqual(Array.from(paths).toSorted(), ["/v1/logs", "/v1/traces"])
      for (const { headers } of collector.requests)
        assert.strictEqual(headers["content-type"], "application/x-protobuf")

      const sent = collector.requests.length
      const disabled = yield* startWith(collector, { OTEL_SDK_DISABLED: "true" })
      yield* operate(disabled, "GET", "/api/v1/agents")
      yield* disabled.stop
      assert.strictEqual(collector.requests.length, sent)
      assert.notInclude(disabled.output.stderr, "trace_id")
    }),
  )

  it.live("do not stop the service when the collector is down, which is logged at level debug", () =>
    Effect.gen(function* () {
      const server = yield* startWith({ url: "http://127.0.0.1:1", spans: [], records: [], requests: [] })
      const agent = yield* enroll(server, "web-1")
      yield* report(server, agent, { check_id: "disk", status: "ok" })
      assert.deepStrictEqual(yield* server.stop, { code: 0, signal: null })
    }),
  )
})

describe("the log of a server", () => {
  it.live("is one JSON object per line, with time, level, message and request ID", () =>
    Effect.gen(function* () {
      const server = yield* startServer({
        cwd: yield* scratchFolder,
        environment: { SERVICE_AUTH_TOKEN: OPERATOR_TOKEN, DATABASE_URL: "memory:" },
      })
      const agent = yield* enroll(server, "web-1")
      yield* report(server, agent, { check_id: "disk", status: "critical" })
      const operated = yield* operate(server, "GET", "/api/v1/agents")
      yield* server.stop
      const lines = parsed(server)
      assert.isAbove(lines.length, 4)
      for (const { level, message, timestamp } of lines) {
        assert.include(["trace", "debug", "info", "warn", "error"], level)
        assert.isString(message)
        assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      }
      const requests = lines.filter(({ message }) => message === "request")
      assert.isTrue(requests.every(({ request_id }) => typeof request_id === "string"))
      assert.include(
        requests.map(({ request_id }) => request_id),
        operated.headers.get("x-request-id"),
      )
    }),
  )
})
