import { assert, describe, it } from "@effect/vitest"
import { counter, gauge, histogram, several, single } from "@tocsin/core/kernel/engine/metrics/Counters"
import { Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as ApiRoutes from "../../src/ApiRoutes.ts"
import { exposition } from "../../src/metrics/metricsRoute.ts"
import { type Stubs, stubServices, UI_TOKEN } from "../TestServer.ts"

const counts = {
  agents_online: 3,
  agents_offline: 2,
  checks_ok: 1,
  checks_warning: 0,
  checks_critical: 0,
  checks_unknown: 0,
  open_incidents: 0,
}
const metricCounts = {
  agents_pending: 0,
  agents_dead: 4,
  keys_blocked: 0,
  incidents: { warning: 0, critical: 0, unknown: 0 },
  late: [{ status: "ok" as const, severity: "critical" as const, checks: 7 }],
  of_places: [],
  withdrawn: 0,
  backlog: [],
}

/** Asks a handler with such services for its metrics, so many times at once. */
const scrape = (stubs: Stubs, times: number) =>
  Effect.gen(function* () {
    const { handler } = yield* Effect.acquireRelease(
      Effect.sync(() =>
        HttpRouter.toWebHandler(
          ApiRoutes.layer({
            operatorTokens: [Redacted.make(UI_TOKEN)],
            metrics: { access: { tokens: [], isOpen: true }, version: "1.2.3" },
          }).pipe(Layer.provide([Layer.fresh(stubServices(stubs)), HttpServer.layerServices])),
        ),
      ),
      ({ dispose }) => Effect.promise(dispose),
    )
    const ask = Effect.promise(async () => (await handler(new Request("http://localhost/metrics"))).text())
    return yield* Effect.all(
      Array.from({ length: times }, () => ask),
      { concurrency: "unbounded" },
    )
  }).pipe(Effect.scoped)

describe("metrics of a storage", () => {
  it.live("are read once for simultaneous scrapes", () =>
    Effect.gen(function* () {
      let reads = 0
      const summary = Effect.sync(() => {
        reads += 1
        return { ...counts, generated_at: 0n as never }
      })
      const texts = yield* scrape({ queries: { summary, metricCounts: Effect.succeed(metricCounts) } }, 5)
      assert.strictEqual(reads, 1)
      assert.strictEqual(new Set(texts).size, 1)
      const [text = ""] = texts
      assert.include(text, 'tocsin_agents{status="alive"} 3\n')
      assert.include(text, 'tocsin_checks_late{severity="critical"} 7\n')
      assert.include(text, 'tocsin_checks_late{severity="warning"} 0\n')
      // More are dead than the other read found offline: the difference must not become negative.
      assert.include(text, 'tocsin_agents{status="stale"} 0\n')
      assert.include(text, 'tocsin_build_info{version="1.2.3",node=')
    }),
  )

  it.live("are left out if they cannot be read in time or at all, without the others", () =>
    Effect.gen(function* () {
      const summary = Effect.succeed({ ...counts, generated_at: 0n as never })
      const [hanging, failing, away] = yield* Effect.all(
        [
          scrape({ queries: { summary, metricCounts: Effect.never } }, 1),
          scrape({ queries: { summary, metricCounts: Effect.die("a mistake") } }, 1),
          scrape({ readiness: { isStorageUp: Effect.succeed(false) } }, 1),
        ],
        { concurrency: "unbounded" },
      )
      for (const [text = ""] of [hanging, failing, away]) {
        assert.notInclude(text, "tocsin_agents{")
        assert.include(text, "process_cpu_seconds_total")
      }
      assert.include(hanging[0], "tocsin_storage_up 1\n")
      assert.include(away[0], "tocsin_storage_up 0\n")
    }),
  )
})

describe("exposition", () => {
  it("writes each metric with what is told of it, once for all that tell of it", () => {
    const pools = gauge("pool_size", "Size\nof a \\ pool", ["pool"])
    assert.strictEqual(
      exposition([
        several(pools, [[["a"], 1]]),
        single(counter("done_total", "Done"), 12.5),
        several(pools, [[['b"\\\n'], Number.POSITIVE_INFINITY]]),
        several(gauge("nothing", "Not there"), []),
      ]),
      `# HELP pool_size Size\\nof a \\\\ pool
# TYPE pool_size gauge
pool_size{pool="a"} 1
pool_size{pool="b\\"\\\\\\n"} +Inf
# HELP done_total Done
# TYPE done_total counter
done_total 12.5
`,
    )
  })

  it("writes buckets of a histogram one within the next", () => {
    const definition = histogram("took_seconds", "Time", [0.5, 1], ["way"])
    const text = exposition([
      { definition, readings: [{ labels: ["up"], value: { counts: [2, 0, 3], sum: 7.25 } }] },
    ])
    assert.strictEqual(
      text,
      `# HELP took_seconds Time
# TYPE took_seconds histogram
took_seconds_bucket{way="up",le="0.5"} 2
took_seconds_bucket{way="up",le="1"} 2
took_seconds_bucket{way="up",le="+Inf"} 5
took_seconds_sum{way="up"} 7.25
took_seconds_count{way="up"} 5
`,
    )
  })
})
