import { assert, describe, it } from "@effect/vitest"
import { counter, gauge, histogram, several, single } from "@tocsin/core/engine/metrics/Metric"
import { type SentFamily, withSiblings } from "../../src/metrics/siblings.ts"
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

const sent = (...args: Parameters<typeof families>): ReadonlyArray<SentFamily> =>
  families(...args).map(({ definition: { name }, readings }) => ({ name, readings }))

describe("the metrics of several processes", () => {
  it("are added up, or the most or least of them, by their labels", () => {
    const together = withSiblings(families(1, ["200"]), [
      sent(2, ["200", "404"]),
      sent(3, ["500"]),
      [{ name: "of_another_version", readings: [{ labels: [], value: 1 }] }],
    ])
    const lines = exposition(together)
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
    assert.deepStrictEqual(lines, [
      'requests_total{status="200"} 3',
      'requests_total{status="404"} 2',
      'requests_total{status="500"} 3',
      'duration_seconds_bucket{le="1"} 6',
      'duration_seconds_bucket{le="2"} 6',
      'duration_seconds_bucket{le="+Inf"} 9',
      "duration_seconds_sum 6",
      "duration_seconds_count 9",
      "memory_bytes 60",
      "lag_seconds 3",
      "start_seconds 1",
    ])
  })

  it("are those of one process where there is no other", () => {
    const own = families(1, ["200"])
    assert.strictEqual(withSiblings(own, []), own)
  })
})
