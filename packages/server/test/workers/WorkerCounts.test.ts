import type { SentFamily } from "@tocsin/adapter-http/metrics/siblings"
import { assert, describe, it } from "vitest"
import { WorkerCounts } from "../../src/workers/WorkerCounts.ts"

const requests = (value: number): ReadonlyArray<SentFamily> => [
  { name: "requests_total", type: "counter", readings: [{ labels: [], value }] },
]

describe("the counts of workers", () => {
  it("take nothing twice from a report that a later one has overtaken", () => {
    const counts = new WorkerCounts()
    for (const value of [5, 3, 6]) counts.report(1, requests(value))
    assert.deepStrictEqual(counts.totals, requests(6))
  })

  it("start over with the replacement of a worker that has ended", () => {
    const counts = new WorkerCounts()
    counts.report(1, requests(5))
    counts.ended(1)
    counts.report(1, requests(4))
    assert.deepStrictEqual(counts.totals, requests(9))
  })
})
