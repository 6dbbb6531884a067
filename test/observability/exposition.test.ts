import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { assert, it } from "@effect/vitest"
import { skippedFor } from "@tocsin/testing/StorageUnderTest"
import { Effect } from "effect"
import { operate } from "../http/client/call.ts"
import { acceptedAgent, event, push } from "../http/client/TestAgent.ts"
import { Tocsin } from "../http/service/Tocsin.ts"
import { promtool, withoutPromtool } from "./promtool.ts"

const inUse = Tocsin.layer(MemoryStorage.layer, {
  serves: {
    metrics: { access: { tokens: [], isOpen: false }, version: "1.0.0" },
    checkMetrics: { labels: ["team", "env.name"] },
  },
})

it.live.skipIf(withoutPromtool !== undefined)(
  `a service in use exposes metrics as Prometheus wants them${skippedFor(withoutPromtool)}`,
  () =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent("web-1")
      yield* push(agent, event({ status: "critical", exit_code: 2, output: 'DISK "C:\\" | used=42%;80;90' }))
      for (const path of ["/metrics", "/metrics/checks"]) {
        const { text } = yield* operate("GET", path)
        assert.include(text, "# TYPE tocsin_", path)
        assert.deepStrictEqual(promtool(["check", "metrics"], { input: text }), { status: 0, output: "" })
      }
    }).pipe(Effect.provide(inUse)),
)
