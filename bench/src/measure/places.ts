import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { PlacesCase } from "../cases.ts"
import { callApi } from "../load/callApi.ts"
import { admit } from "../load/enrol.ts"
import { agentId } from "../load/Load.ts"
import { Stamp } from "../load/Stamp.ts"
import { ownCpuSeconds } from "../processes/cpuSeconds.ts"
import type { CaseResult } from "../report/Results.ts"
import { newKeys, startServer } from "./target.ts"

const startPage = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer((_, response) => response.end("well"))
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) =>
    Effect.sync(() => {
      server.close()
      server.closeAllConnections()
    }),
)

/** A body with one result, as an agent sends it. */
const resultBody = (agent: string, check: string, stamp: Stamp): string => {
  stamp.advance()
  return JSON.stringify({
    agent_id: agent,
    events: [
      {
        event_id: `${stamp.idPrefix}-8000-000000000000`,
        check_id: check,
        observed_at: `${stamp.time}`,
        status: "ok",
        exit_code: 0,
        duration_ms: 12,
        output: `HTTP OK - 200 http://127.0.0.1/ in 0.012 s | time=0.${stamp.micros}s`,
      },
    ],
  })
}

/** Processor time and commits of a server whose watches look from `here`, or from the agents that report. */
const costOf = Effect.fnUntraced(function* (bench: Bench, one: PlacesCase, isShared: boolean, page: number) {
  const { server } = yield* startServer(bench, one.storage, { SERVICE_WATCH_LOOPBACK: "true" })
  const { pid, port, token } = server
  let results = 0
  const seen = Effect.gen(function* () {
    const metrics = yield* callApi({ port, token, path: "/metrics" })
    const count = /^tocsin_commit_group_size_count\{.*\} (\d+)$/gm
    const commits = Array.from(metrics.matchAll(count), ([, value]) => Number(value))
    return { cpu: ownCpuSeconds(pid) ?? 0, commits: commits.reduce((sum, value) => sum + value, 0), results }
  })
  const during = Effect.fnUntraced(function* (seconds: number) {
    const before = yield* seen
    yield* Effect.sleep(`${seconds} seconds`)
    const after = yield* seen
    return {
      cpu: after.cpu - before.cpu,
      commits: after.commits - before.commits,
      results: after.results - before.results,
    }
  })
  const keys = newKeys(one.agents)
  yield* admit(server, keys)
  /** Those of chores. */
  const idle = yield* during(one.everySeconds)
  const ids = keys.map((_, index) => agentId(index))
  const from = isShared ? ids : ["here"]
  const nameOf = (n: number) => `page-${n % one.watches}`
  for (let n = 0; n < one.watches; n++) {
    const terms = { name: nameOf(n), every: `${one.everySeconds}s`, from }
    const body = JSON.stringify({ ...terms, http: { url: `http://127.0.0.1:${page}/` } })
    yield* callApi({ method: "POST", port, token, path: "/ops/v1/watches", body })
  }
  const stamp = new Stamp()
  const pauseMillis = (one.everySeconds * 1_000) / one.watches
  /** Each watch once a period, at even distances, as an agent probes them. */
  const report = Effect.fnUntraced(function* (key: string, index: number) {
    const agent = agentId(index)
    const start = performance.now() + (index * pauseMillis) / keys.length
    for (let n = 0; ; n++) {
      yield* Effect.sleep(Math.max(0, start + n * pauseMillis - performance.now()))
      const asks = isShared && n % one.watches === 0
      if (asks) yield* callApi({ port, token: key, path: `/ops/v1/agents/${agent}/watches` })
      const body = resultBody(agent, isShared ? `watch:${nameOf(n)}` : nameOf(n), stamp)
      yield* callApi({ method: "POST", port, token: key, path: "/api/v1/events", body })
      results += 1
    }
  })
  const measured = Effect.gen(function* () {
    // The window after a change, in which all places are waited for, is over two periods and 30 s later.
    yield* Effect.sleep(`${2 * one.everySeconds + 35} seconds`)
    const all = yield* during(one.periods * one.everySeconds)
    return { ...all, commits: all.commits - idle.commits * one.periods }
  })
  const reports = Effect.forEach(keys, report, { concurrency: "unbounded", discard: true })
  return yield* Effect.raceFirst(measured, Effect.andThen(reports, Effect.never))
})

/** Measures watches from several places beside as many of the server's own and as many results of agents. */
export const measurePlaces = Effect.fnUntraced(function* (bench: Bench, one: PlacesCase) {
  const page = yield* startPage
  // A server of TCP has an address of this form.
  const { port } = page.address() as AddressInfo
  // At the same time, so that what else the machine does slows both alike.
  const [own, shared] = yield* Effect.all([costOf(bench, one, false, port), costOf(bench, one, true, port)], {
    concurrency: 2,
  })
  if (own.cpu === 0) return yield* new BenchFailure({ message: "there is no /proc to read processor times" })
  const result: CaseResult = {
    name: one.name,
    operations: "results",
    series: [],
    figures: [
      {
        name: "processor time × own watches and plain results",
        value: shared.cpu / own.cpu,
        target: { bound: "at most", value: one.mostOfOwn },
      },
      {
        name: "commits a result",
        value: shared.commits / shared.results,
        target: { bound: "at most", value: 1 },
      },
      { name: "ms of processor time a result", value: (shared.cpu * 1e3) / shared.results },
    ],
  }
  return result
})
