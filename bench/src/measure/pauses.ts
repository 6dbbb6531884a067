import { randomUUID } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { Effect, Schedule } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { PausesCase } from "../cases.ts"
import { callApi } from "../load/callApi.ts"
import { enrol, storm } from "../load/enrol.ts"
import { agentId, EVENTS_PER_BATCH } from "../load/Load.ts"
import type { ReaderCommand, ReaderReply } from "../load/Reader.ts"
import type { Tocsin } from "../processes/tocsin.ts"
import { worker } from "../processes/worker.ts"
import type { CaseResult } from "../report/Results.ts"
import { failureOf, newKeys, sampleOf, startServer, target } from "./target.ts"

const HOUR = 3_600_000
const MEASURED_HOURS = 93 * 24
const MOST_EVENTS = 200
const SERIES = 19
const CHECK = "measured"

const LINES = 200
const ROTA = "rota"
const WINDOWS = 1_000

/** A rota, windows, and a public page as large as it may be. */
const POLICY = JSON.stringify({
  receivers: { ann: { kind: "debug" }, bob: { kind: "debug" } },
  routes: [{ to: ["ann"] }],
  windows: Array.from({ length: WINDOWS }, (_, n) => ({
    name: `window-${n}`,
    cron: `${n % 60} 3 * * *`,
    tz: "Europe/Berlin",
    for: "1h",
    match: [`agent_id = none-${n}`],
  })),
  rotas: { [ROTA]: { tz: "Europe/Berlin", order: ["ann", "bob"], every: "12h", from: "2026-01-01T09:00" } },
  pages: {
    bench: {
      title: "Bench",
      groups: [
        {
          title: "Services",
          lines: Array.from({ length: LINES }, (_, n) => ({
            name: `Service ${n}`,
            match: [`agent_id = ${agentId(n)}`],
          })),
        },
      ],
    },
  },
})

/** The reads behind each page of the console, its exports, and what others subscribe to; each is repeated so often. */
const pagesOf = (from: string, calendar: string): Readonly<Record<string, ReadonlyArray<string>>> => {
  const check = `agent_id=${agentId(0)}&check_id=${CHECK}`
  const numbers = `/ops/v1/numbers?${check}&from=${from}&step=1h`
  return {
    incidents: ["/ops/v1/incidents?state=open&limit=500", "/ops/v1/summary"],
    checks: ["/ops/v1/checks?limit=500"],
    agents: ["/api/v1/agents?limit=500"],
    outbox: ["/ops/v1/outbox?limit=500"],
    searches: ["checks", "incidents", "agents"].map((list) => `/ops/v1/${list}?limit=500&search=nowhere`),
    history: ["/api/v1/events/query?limit=500", "/ops/v1/audit?limit=500"],
    reports: [`/ops/v1/availability?limit=500&from=${from}`],
    numbers: [`/ops/v1/checks/${agentId(0)}/${CHECK}/numbers`, numbers],
    "an export": [
      "/ops/v1/incidents?state=open&limit=500&with_receivers=true",
      "/ops/v1/checks?limit=500&is_overdue=true",
      "/ops/v1/silences?limit=500",
      numbers,
    ],
    "the policy": ["/ops/v1/policy", "/ops/v1/windows"],
    calendars: ["/ops/v1/rotas", calendar],
    "public pages": ["/status/bench", "/status/bench.json"],
    system: ["/ops/v1/summary", "/metrics"],
  }
}

/** The path of the calendar of the rota. */
const calendarOf = ({ port, token }: Tocsin) =>
  Effect.map(callApi({ port, path: `/ops/v1/rotas/${ROTA}`, token }), (answer) => {
    const { calendar } = JSON.parse(answer) as { readonly calendar: string }
    return new URL(calendar).pathname
  })

/** A public page is first answered once its past is known. */
const awaitPage = ({ port, token }: Tocsin) =>
  Effect.retry(callApi({ port, path: "/status/bench", token }), {
    schedule: Schedule.spaced("100 millis"),
    times: 600,
  })

const READ_EVERY_MILLIS = 250
const HEARTBEATS_A_SECOND = 100
const CONNECTIONS = 8

/** A check that measured a quarter of 19 numbers and its duration, each hour. */
const measureQuarter = Effect.fnUntraced(function* ({ port }: Tocsin, key: string, now: number) {
  for (let first = 0; first < MEASURED_HOURS; first += MOST_EVENTS) {
    const events = Array.from({ length: Math.min(MOST_EVENTS, MEASURED_HOURS - first) }, (_, n) => ({
      event_id: randomUUID().replace(
        /^.{13}-./,
        `${(now + first + n)
          .toString(16)
          .padStart(12, "0")
          .replace(/^(.{8})/, "$1-")}-7`,
      ),
      check_id: CHECK,
      observed_at: new Date(now - (MEASURED_HOURS - first - n) * HOUR).toISOString(),
      status: "ok",
      exit_code: 0,
      duration_ms: 1 + n,
      output: `OK | ${Array.from({ length: SERIES }, (__, series) => `value-${series}=${(first + n) * 1.01 + series}`).join(" ")}`,
      output_truncated: false,
      notifications_enabled: true,
    }))
    const body = JSON.stringify({ agent_id: agentId(0), events })
    yield* callApi({ method: "POST", port, path: "/api/v1/events", token: key, body })
  }
})

/** Options of Node.js for a server that states its pauses. */
export const NOTES_PAUSES = `--import ${new URL("../processes/notePauses.ts", import.meta.url).href}`

/** The line that such a server states after a signal, which is the `count`th. */
const stated = ({ pid }: Tocsin, { count, file, signal }: Question & { readonly signal: NodeJS.Signals }) =>
  Effect.sync(() => {
    const lines = existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : []
    return lines[count - 1]?.split(" ").map(Number)
  }).pipe(
    Effect.filterOrFail((numbers) => numbers !== undefined),
    Effect.retry({ schedule: Schedule.spaced("10 millis"), times: 1_000 }),
    Effect.mapError(() => new BenchFailure({ message: "the server does not state its pauses" })),
    (answer) =>
      Effect.andThen(
        Effect.sync(() => process.kill(pid, signal)),
        answer,
      ),
  )

interface Question {
  readonly file: string
  /** How many were asked, this one included. */
  readonly count: number
}

/** The longest pauses of the server since the last question. */
export const pauseOf = (server: Tocsin, question: Question) =>
  Effect.map(stated(server, { ...question, signal: "SIGUSR2" }), ([clock = 0, processor = 0]) => ({
    clock,
    processor,
  }))

/** The MiB of values that the server has in use. */
export const usedMiBOf = (server: Tocsin, question: Question) =>
  Effect.map(stated(server, { ...question, signal: "SIGWINCH" }), ([used = 0]) => used)

/** Measures the longest pause of the server's event loop while each page of the console is read, with heartbeats beside it. */
export const measurePauses = Effect.fnUntraced(function* (bench: Bench, one: PausesCase) {
  const { seconds, warmUpSeconds } = bench.measures
  const file = join(yield* bench.folder, "pauses")
  const policy = join(yield* bench.folder, "policy.json")
  writeFileSync(policy, POLICY)
  const { postgres, server } = yield* startServer(bench, one.storage, {
    NODE_OPTIONS: NOTES_PAUSES,
    BENCH_PAUSES: file,
    SERVICE_POLICY_FILE: policy,
    SERVICE_PUBLIC_URL: "http://localhost",
    SERVICE_STALE_AFTER: "1h",
    SERVICE_DEAD_AFTER: "2h",
  })
  const keys = newKeys(one.checks / EVENTS_PER_BATCH)
  yield* enrol(server, keys)
  yield* storm(server, keys.slice(0, one.incidents / EVENTS_PER_BATCH))
  const now = Date.now()
  yield* measureQuarter(server, keys[0] ?? "", now)
  const watched = { server: server.pid, ...(postgres !== undefined && { postgres: postgres.pid }) }
  const agents = yield* target([server.port], keys, watched)
  const reader = yield* worker<ReaderCommand, ReaderReply>(
    new URL("../load/readerProcess.ts", import.meta.url),
  )
  const heartbeats = agents.run({
    load: ["heartbeat"],
    connections: CONNECTIONS,
    requestsPerSecond: HEARTBEATS_A_SECOND,
    seconds,
    warmUpSeconds,
  })
  const { port, token } = server
  let asked = 0
  const pause = Effect.suspend(() => pauseOf(server, { file, count: ++asked }))
  const failures: Array<string | undefined> = []
  const read = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
    yield* pause
    yield* reader.ask({ type: "start", port, token, paths, everyMillis: READ_EVERY_MILLIS })
    const taken = yield* heartbeats
    const { firstFailure } = yield* reader.ask({ type: "stop" })
    failures.push(firstFailure, failureOf(["heartbeat"], [taken]))
    return { longest: yield* pause, taken }
  })
  const from = new Date(now - MEASURED_HOURS * HOUR).toISOString()
  yield* awaitPage(server)
  const pages = Object.entries({ nothing: [], ...pagesOf(from, yield* calendarOf(server)) })
  const seen: Array<readonly [page: string, Effect.Success<ReturnType<typeof read>>]> = []
  // Compilers are at work in the first reads, which do not count.
  for (const [, paths] of pages) yield* read(paths)
  for (const [page, paths] of pages) seen.push([page, yield* read(paths)])
  const failure = failures.find((text) => text !== undefined)
  const result: CaseResult = {
    name: one.name,
    operations: "heartbeats",
    series: seen.map(([page, { taken }]) => ({
      name: `beside ${page}`,
      samples: [sampleOf(taken)],
      peakMiB: agents.peakMiB(),
    })),
    figures: seen.flatMap(([page, { longest }]) => [
      {
        name: `ms of processor time in the longest pause beside ${page}`,
        value: longest.processor,
        target: { bound: "at most", value: one.mostMillis },
      },
      { name: `ms of the longest pause beside ${page}`, value: longest.clock },
    ]),
    ...(failure !== undefined && { failure }),
  }
  return result
})
