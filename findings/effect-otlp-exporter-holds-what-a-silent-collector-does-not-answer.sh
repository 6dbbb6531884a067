#!/usr/bin/env bash
# A trace exporter holds, without a bound, what a silent collector does not answer
#
# What: effect 4.1.0 (npm), OtlpTracer over FetchHttpClient.
#
# Behaviour: a collector takes connections and never answers. The exporter begins another request for each thousand spans
# and holds their spans until an answer. Nothing is dropped or logged: 100,000 spans are a hundred open requests. fetch
# gives up after five minutes, and each request is then tried three times more.
#
# What people expect: a bounded queue. The specification of OpenTelemetry has one of 2,048 spans, drops what does not fit,
# and ends an export after 30 seconds. Where the collector refuses connections, this exporter drops everything for a minute.
#
# Seen, 2026-11-28:
#   100000 spans: at least 100 requests are open, and 0 spans are dropped
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts effect@4.1.0
cat >collector.mjs <<'END'
import { createServer } from "node:http"
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpExporter, OtlpSerialization, OtlpTracer } from "effect/observability"

let open = 0
let spans = 0
const server = createServer((request) => {
  open += 1
  let text = ""
  request.setEncoding("utf8").on("data", (part) => (text += part))
  request.on("end", () => (spans += text.split('"spanId"').length - 1))
})
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
const tracing = OtlpTracer.layer({
  url: `http://127.0.0.1:${server.address().port}/v1/traces`,
  resource: { serviceName: "finding" },
}).pipe(Layer.provide([OtlpExporter.layerFlusher, FetchHttpClient.layer, OtlpSerialization.layerJson]))
const COUNT = 100_000
await Effect.runPromise(
  Effect.gen(function* () {
    for (let n = 0; n < COUNT; n += 1) yield* Effect.withSpan(Effect.void, "work")
    for (let waits = 0; waits < 100 && spans < COUNT; waits += 1) yield* Effect.sleep("100 millis")
  }).pipe(Effect.provide(tracing)),
)
const least = open >= COUNT / 1_000 ? COUNT / 1_000 : open
console.log(`${COUNT} spans: at least ${least} requests are open, and ${COUNT - spans} spans are dropped`)
process.exit(0)
END
seen=$(node collector.mjs)
printf '%s\n' "$seen"
[ "$seen" = "100000 spans: at least 100 requests are open, and 0 spans are dropped" ]
