import { assert, describe, it } from "@effect/vitest"
import { counter, gauge, histogram, several, single } from "@tocsin/core/engine/metrics/Metric"
import { exposition } from "../../src/metrics/exposition.ts"

describe("exposition", () => {
  it("writes each metric with what is told of it, once for all that tell of it", () => {
    const pools = gauge("pool_size", "Size\nof a \\ pool", { labels: ["pool"] })
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
    const definition = histogram("took_seconds", "Time", { labels: ["way"], buckets: [0.5, 1] })
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
