import { checkedSettings } from "@tocsin/server/settings/checkedSettings"
import { endpointOf } from "@tocsin/server/telemetry/endpoints"
import { exporterOf } from "@tocsin/server/telemetry/openTelemetry"
import { assert, it } from "@effect/vitest"
import { Result } from "effect"

it("user info of an endpoint is sent as a header, unless the settings have their own", () => {
  const sent = (environment: Readonly<Record<string, string>>) => {
    const address = "http://us%40er:pass@collector.example:4318"
    const all = { OTEL_EXPORTER_OTLP_ENDPOINT: address, ...environment }
    const settings = Result.getOrThrow(checkedSettings(all))
    const endpoint = endpointOf(settings, "TRACES")
    assert(endpoint !== undefined)
    const { headers, url } = exporterOf(settings, "TRACES", endpoint)
    return { headers, url }
  }
  const url = "http://collector.example:4318/v1/traces"
  assert.deepStrictEqual(sent({}), { headers: { authorization: `Basic ${btoa("us@er:pass")}` }, url })
  assert.deepStrictEqual(sent({ OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20x" }), {
    headers: { authorization: "Bearer x" },
    url,
  })
})
