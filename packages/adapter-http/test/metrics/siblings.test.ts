import { assert, describe, it } from "@effect/vitest"
import { counter, gauge, histogram, several, single } from "@tocsin/core/engine/metrics/Metric"
import { toSent, withSiblings } from "../../src/metrics/siblings.ts"
import { exposition } from "../../src/metrics/exposition.ts"

const requests = counter("requests_total", "Requests", { labels: ["status"] })
const duration = histogram("duration_seconds", "Duration", { buckets: [1, 2] })
const memory = gauge("memory_bytes", "Memory")
const lag = gauge("lag_seconds", "Lag", { ofSeveral: "most" })
const started = gauge("start_seconds", "Start", { ofSeveral: "least" })

const families = (scale: number, statuses: ReadonlyArray<string>) => [
  several(
    requests,
    statuses.map((status) => [[status], scale] as const),
  ),
  { definition: duration, readings: [{ labels: [], value: { counts: [scale, 0, 1], sum: scale } }] },
  single(memory, 10 * scale),
  single(lag, scale),
  single(started, scale),
]

const linesOf = (together: ReturnType<typeof withSiblings>): ReadonlyArray<string> =>
  exposition(together)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))

const gaugesOf = (scale: number) => toSent(families(scale, [])).filter(({ type }) => type === "gauge")

describe("the metrics of several processes", () => {
  it("have the counts of all, and gauges added up or the most or least of them", () => {
    const own = families(1, ["200"])
    const together = withSiblings(own, {
      counts: [
        ...toSent(families(6, ["200", "404"])).filter(({ type }) => type !== "gauge"),
        { name: "of_another_version", type: "counter", readings: [{ labels: [], value: 1 }] },
      ],
      gaugesOfOthers: [gaugesOf(2), gaugesOf(3)],
    })
    assert.deepStrictEqual(linesOf(together), [
      'requests_total{status="200"} 6',
      'requests_total{status="404"} 6',
      'duration_seconds_bucket{le="1"} 6',
      'duration_seconds_bucket{le="2"} 6',
      'duration_seconds_bucket{le="+Inf"} 7',
      "duration_seconds_sum 6",
      "duration_seconds_count 7",
      "memory_bytes 60",
      "lag_seconds 3",
      "start_seconds 1",
    ])
  })

  it("are without counts where those of all are unknown, since fewer would look like a restart", () => {
    assert.deepStrictEqual(linesOf(withSiblings(families(1, ["200"]), undefined)), [
      "memory_bytes 10",
      "lag_seconds 1",
      "start_seconds 1",
    ])
  })
})
