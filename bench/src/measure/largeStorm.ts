import { Effect, Schedule } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { LargeStormCase } from "../cases.ts"
import { callApi } from "../load/callApi.ts"
import { enrol, storm } from "../load/enrol.ts"
import { EVENTS_PER_BATCH } from "../load/Load.ts"
import type { ReaderCommand, ReaderReply } from "../load/Reader.ts"
import { startReceiver } from "../load/Receiver.ts"
import { cpuSeconds } from "../processes/cpuSeconds.ts"
import { peakResidentMiB } from "../processes/residentMemory.ts"
import type { Tocsin } from "../processes/tocsin.ts"
import { worker } from "../processes/worker.ts"
import type { CaseResult, Sample, Series } from "../report/Results.ts"
import { quantile } from "../statistics.ts"
import { webhookTo } from "./storm.ts"
import { newKeys, startServer } from "./target.ts"

/** The reads of people on call, and the health of the process for comparison. */
const READS = {
  incidents: "/api/v1/incidents?state=open&severity=critical",
  outbox: "/api/v1/notifiers/outbox",
  history: "/api/v1/events/query",
  checks: "/api/v1/checks",
  agents: "/api/v1/agents",
  summary: "/api/v1/system-summary",
  health: "/api/v1/health",
}
const READ_EVERY_MILLIS = 500
const LOOKS = { schedule: Schedule.spaced("100 millis"), times: 6_000 }

const openIncidents = ({ port, token }: Tocsin) =>
  Effect.map(
    callApi({ port, token, path: READS.summary }),
    // The answer has the form that the API promises.
    (answer) => (JSON.parse(answer) as { readonly open_incidents: number }).open_incidents,
  )

const must = (isSo: boolean, message: string) =>
  isSo ? Effect.void : Effect.fail(new BenchFailure({ message }))

/** The times of answers as a sample. */
export const sampleOfReads = (millis: ReadonlyArray<number>, seconds: number): Sample => ({
  perSecond: millis.length / seconds,
  p50Millis: quantile(millis, 0.5),
  p99Millis: quantile(millis, 0.99),
  maxMillis: Math.max(...millis),
  cpuMicros: {},
})

/** Opens a hundred thousand incidents, waits for their notifications, and reads lists meanwhile. */
export const measureLargeStorm = Effect.fnUntraced(function* (bench: Bench, one: LargeStormCase) {
  const { incidents, overSeconds } = one
  const receiver = yield* startReceiver(0)
  const { postgres, server } = yield* startServer(bench, one.storage, webhookTo(receiver.url))
  const keys = newKeys(incidents / EVENTS_PER_BATCH)
  yield* enrol(server, keys)
  const reader = yield* worker<ReaderCommand, ReaderReply>(
    new URL("../load/readerProcess.ts", import.meta.url),
  )
  const cpu = (): Record<string, number> => ({
    server: cpuSeconds(server.pid) ?? Number.NaN,
    ...(postgres !== undefined && { postgres: cpuSeconds(postgres.pid) ?? Number.NaN }),
  })
  const { port, token } = server
  yield* reader.ask({
    type: "start",
    port,
    token,
    paths: Object.values(READS),
    everyMillis: READ_EVERY_MILLIS,
  })
  const [start, before] = [performance.now(), cpu()]
  const secondsSoFar = () => (performance.now() - start) / 1000
  const sampleNow = (): Sample => ({
    perSecond: incidents / secondsSoFar(),
    cpuMicros: Object.fromEntries(
      Object.entries(cpu()).map(([name, after]) => [name, ((after - (before[name] ?? 0)) * 1e6) / incidents]),
    ),
  })
  yield* storm(server, keys, overSeconds)
  // A batch is answered after its incidents are open.
  const [opened, secondsToOpen] = [sampleNow(), secondsSoFar()]
  const received = yield* Effect.repeat(receiver.received, { ...LOOKS, until: (count) => count >= incidents })
  const [attempted, secondsToAttempt] = [sampleNow(), secondsSoFar()]
  const { firstFailure, millis } = yield* reader.ask({ type: "stop" })
  yield* must(firstFailure === undefined, firstFailure ?? "")
  yield* must(received === incidents, `${received} of ${incidents} notifications arrived`)
  const open = yield* openIncidents(server)
  yield* must(open === incidents, `${open} of ${incidents} incidents are open`)
  const reads = Object.keys(READS).map((name, index) => ({ name, millis: millis[index] ?? [] }))
  const ofLists = reads.filter(({ name }) => name !== "health").flatMap((read) => read.millis)
  const result: CaseResult = {
    name: one.name,
    operations: "incidents",
    series: [
      { name: "subject", samples: [opened], peakMiB: { server: peakResidentMiB(server.pid) ?? Number.NaN } },
      { name: "and notified", samples: [attempted], peakMiB: {} },
      ...reads.map((read): Series => ({
        name: read.name,
        samples: [sampleOfReads(read.millis, secondsToAttempt)],
        peakMiB: {},
      })),
    ],
    figures: [
      { name: "s until all are open", value: secondsToOpen },
      { name: "s until all are notified", value: secondsToAttempt },
      { name: "list p50 ms", value: quantile(ofLists, 0.5) },
      { name: "list p99 ms", value: quantile(ofLists, 0.99) },
      {
        name: "list ms at most",
        value: Math.max(...ofLists),
        target: { bound: "at most", value: one.mostListMillis },
      },
    ],
  }
  return result
})
