import { assert, describe, it } from "@effect/vitest"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Redacted } from "effect"
import { readSettings } from "../../src/settings/checkedSettings.ts"
import type { Settings } from "../../src/settings/Settings.ts"
import { endpointOf, exportsTelemetry, type Signal } from "@tocsin/server/telemetry/endpoints"
import { layer } from "@tocsin/server/telemetry/openTelemetry"

const settingsOf = (environment: Readonly<Record<string, string>>): Settings => {
  const { problems, values } = readSettings(environment)
  assert.deepStrictEqual(problems, [])
  // Without a problem every setting has its value.
  return values as Settings
}

const notifiedOf = (environment: Readonly<Record<string, string>>) => {
  const settings = settingsOf(environment)
  const of = (signal: Signal) => {
    const endpoint = endpointOf(settings, signal)
    return endpoint && Redacted.value(endpoint.address) + endpoint.path
  }
  return { traces: of("TRACES"), logs: of("LOGS"), isAny: exportsTelemetry(settings) }
}

const OTEL = "http://collector:4318"

describe("signals for a collector", () => {
  it("are off unless an endpoint is set", () => {
    const nothing = { traces: undefined, logs: undefined, isAny: false }
    assert.deepStrictEqual(notifiedOf({}), nothing)
    assert.deepStrictEqual(notifiedOf({ OTEL_TRACES_EXPORTER: "otlp", OTEL_SERVICE_NAME: "x" }), nothing)
    assert.deepStrictEqual(
      notifiedOf({ OTEL_EXPORTER_OTLP_ENDPOINT: OTEL, OTEL_SDK_DISABLED: "true" }),
      nothing,
    )
  })

  it("share an endpoint, or have one each", () => {
    assert.deepStrictEqual(notifiedOf({ OTEL_EXPORTER_OTLP_ENDPOINT: OTEL }), {
      traces: `${OTEL}/v1/traces`,
      logs: `${OTEL}/v1/logs`,
      isAny: true,
    })
    const own = {
      OTEL_EXPORTER_OTLP_ENDPOINT: OTEL,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://traces/here",
    }
    assert.strictEqual(notifiedOf(own).traces, "https://traces/here")
    assert.deepStrictEqual(notifiedOf({ ...own, OTEL_LOGS_EXPORTER: "none" }).logs, undefined)
  })
})

describe("settings of OpenTelemetry", () => {
  it("are read as every SDK reads them", () => {
    const { OTEL_EXPORTER_OTLP_HEADERS: headers, OTEL_RESOURCE_ATTRIBUTES: attributes } = settingsOf({
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20secret, x-scope = a=b ,",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=tocsin,region=",
    })
    assert.deepStrictEqual(headers && Redacted.value(headers), {
      authorization: "Bearer secret",
      "x-scope": "a=b",
    })
    assert.deepStrictEqual(attributes, { "service.name": "tocsin", region: "" })
  })

  it("are refused with the accepted values, and without a secret", () => {
    const { problems } = readSettings({
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      OTEL_TRACES_SAMPLER_ARG: "1.5",
      OTEL_EXPORTER_OTLP_HEADERS: "no pairs, secret-word",
      OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318",
    })
    const messages = problems.map(({ message }) => message)
    assert.strictEqual(messages.length, 4)
    assert.isTrue(
      messages.some((message) => message.includes('"grpc", but must be http/protobuf or http/json')),
    )
    assert.isTrue(messages.some((message) => message.includes("a number from 0 to 1")))
    assert.isFalse(messages.some((message) => message.includes("secret-word")))
  })
})

describe("a collector that takes requests and does not answer", () => {
  it.live("is sent 16 requests, and then nothing for a minute", () =>
    Effect.gen(function* () {
      let requests = 0
      const server = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const opened = createServer(() => (requests += 1)).listen(0, "127.0.0.1", () =>
            resume(Effect.succeed(opened)),
          )
        }),
        (opened) =>
          Effect.sync(() => {
            opened.closeAllConnections()
            opened.close()
          }),
      )
      // A server that listens on a port has an address.
      const { port } = server.address() as AddressInfo
      const settings = settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` })
      const span = Effect.withSpan(Effect.void, "read")
      const thousands = Effect.forEach(Array.from({ length: 20_000 }), () => span, { discard: true })
      yield* Effect.gen(function* () {
        // A busy machine gives up some requests before there are sixteen.
        yield* Effect.repeat(Effect.andThen(thousands, Effect.sleep("10 millis")), {
          until: () => requests >= 16,
        })
        yield* thousands
        yield* Effect.sleep("200 millis")
      }).pipe(Effect.provide(layer(settings)), Effect.scoped)
      assert.strictEqual(requests, 16)
    }),
  )
})
