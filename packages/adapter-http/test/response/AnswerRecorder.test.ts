import { assert, it } from "@effect/vitest"
import { Instruments } from "@tocsin/core/kernel/engine/metrics/Instruments"
import { makeRecorder } from "../../src/response/AnswerRecorder.ts"
import { requestMetrics } from "@tocsin/core/heart/usecases/requestMetrics"

it("unusual methods are counted as one, so that clients cannot invent more of them", () => {
  const instruments = new Instruments()
  const recorder = makeRecorder(instruments, false)
  const record = (route: string, method: string, status: number) =>
    recorder.of(route, method).record({ method, url: "/", status, millis: 1, requestId: "id" })
  record("unmatched", "BREW", 404)
  record("unmatched", "PROPFIND", 404)
  record("/", "GET", 200)
  assert.deepStrictEqual(instruments.of(requestMetrics).httpRequests.read().readings, [
    { labels: ["unmatched", "other", "404"], value: 2 },
    { labels: ["/", "GET", "200"], value: 1 },
  ])
})
