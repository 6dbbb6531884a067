import { Effect } from "effect"
import { BenchFailure } from "../BenchFailure.ts"
import { agentKey, agentName, AGENTS, CHECKS, eventId } from "../year/Year.ts"
import { callApi } from "./callApi.ts"
import { LatencyHistogram } from "./LatencyHistogram.ts"

const MINUTE = 60_000
/** One batch in so many has a check that fails until the next one. */
const FAILS_EVERY = 40

const batchOf = (index: number, round: number) => {
  const isFailing = (index + round) % FAILS_EVERY === 0
  return Array.from({ length: CHECKS }, (_, check) => ({
    event_id: eventId(Date.now(), index, round * CHECKS + check),
    check_id: `check-${check}`,
    observed_at: new Date().toISOString(),
    status: isFailing && check === 0 ? "critical" : "ok",
    exit_code: isFailing && check === 0 ? 2 : 0,
    duration_ms: 12,
    output: `PING - packet loss 0%, RTA 0.${round} ms`,
  }))
}

/** The agents of the year at their real rate: each sends a heartbeat and a batch of all checks a minute. */
export const minutely = Effect.fnUntraced(function* (port: number, minutes: number) {
  const latencies = new LatencyHistogram()
  const send = Effect.fnUntraced(function* (index: number, path: string, fields: object) {
    const begun = performance.now()
    const body = JSON.stringify({ agent_id: agentName(index), ...fields })
    yield* callApi({ port, path, method: "POST", token: agentKey(index), body })
    latencies.record(performance.now() - begun)
  })
  const live = Effect.fnUntraced(function* (index: number) {
    yield* Effect.sleep((MINUTE * index) / AGENTS)
    for (let round = 0; round < minutes; round++) {
      const begun = performance.now()
      const seen = { observed_at: new Date().toISOString(), hostname: `${agentName(index)}.site.example.org` }
      yield* send(index, "/api/v1/heartbeat", { ...seen, features: { push: true, metrics: false } })
      yield* send(index, "/api/v1/events", { events: batchOf(index, round) })
      yield* Effect.sleep(Math.max(0, begun + MINUTE - performance.now()))
    }
  })
  yield* Effect.forEach(
    Array.from({ length: AGENTS }, (_, index) => index),
    live,
    {
      concurrency: "unbounded",
      discard: true,
    },
  )
  if (latencies.count < 2 * AGENTS * minutes)
    return yield* new BenchFailure({ message: "requests are missing" })
  return latencies
})
