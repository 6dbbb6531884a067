import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { FleetCase } from "../cases.ts"
import { admit } from "../load/enrol.ts"
import { exitCodeOf, FLEET_CHECK_ID, type FleetCommand, type FleetResult } from "../load/Fleet.ts"
import { agentId } from "../load/Load.ts"
import { freePort } from "../processes/freePort.ts"
import { type Tocsin, tocsin } from "../processes/tocsin.ts"
import { worker } from "../processes/worker.ts"
import type { CaseResult } from "../report/Results.ts"
import { median } from "../statistics.ts"
import { newKeys } from "./target.ts"

/** The agents of a real fleet were not started in the same second. */
const OVER_SECONDS = 60
const EVERY_SECONDS = 20
/** How long the server is down between its two lives. */
const DOWN_SECONDS = 5
/** A burst is looked for in windows of this length, at every second. */
const WINDOW_SECONDS = 5
/** The part of the time that lies before the restart. */
const BEFORE = 0.4
/** The longest wait between two attempts of an agent, and some. */
const PATIENCE_SECONDS = 330

/** In memory where there is such a folder: a thousand spools wait for one disk otherwise. */
const FAST_FOLDER = "/dev/shm"

const wallMillis = () => performance.timeOrigin + performance.now()

/** Requests a second in each window that lies between two times. */
const ratesOf = (requests: ReadonlyArray<number>, from: number, to: number): ReadonlyArray<number> => {
  const windows = Math.floor((to - from) / 1_000) - WINDOW_SECONDS + 1
  return Array.from({ length: Math.max(0, windows) }, (_, second) => {
    const begin = from + second * 1_000
    const end = begin + WINDOW_SECONDS * 1_000
    return requests.filter((at) => at >= begin && at < end).length / WINDOW_SECONDS
  })
}

interface Page {
  readonly items: ReadonlyArray<{ readonly agent_id: string; readonly exit_code: number }>
  readonly next_cursor: string | null
}

/** The exit codes of each agent's results in the order of their times; the server lists the newest first. */
const keptBy = ({ port, token }: Tocsin) =>
  Effect.tryPromise({
    try: async () => {
      const kept = new Map<string, Array<number>>()
      const path = `/api/v1/events/query?check_id=${FLEET_CHECK_ID}&limit=500`
      for (let cursor = ""; ;) {
        const headers = { authorization: `Bearer ${token}` }
        const response = await fetch(`http://127.0.0.1:${port}${path}${cursor}`, { headers })
        if (!response.ok) throw new Error(`the history was answered with ${await response.text()}`)
        // The answer has the form that the API promises.
        const { items, next_cursor } = (await response.json()) as Page
        for (const { agent_id, exit_code } of items)
          kept.set(agent_id, [exit_code, ...(kept.get(agent_id) ?? [])])
        if (next_cursor === null) return kept
        cursor = `&cursor=${encodeURIComponent(next_cursor)}`
      }
    },
    catch: (cause) => new BenchFailure({ message: String(cause) }),
  })

/** Results that are missing, came twice, or in another order. */
const wrongOf = (recorded: ReadonlyArray<number>, kept: ReadonlyMap<string, ReadonlyArray<number>>): number =>
  recorded.reduce((sum, count, index) => {
    const found = kept.get(agentId(index)) ?? []
    const wrong = found.filter((code, place) => code !== exitCodeOf(place)).length
    return sum + wrong + Math.abs(count - found.length)
  }, 0)

const folderOf = Effect.fnUntraced(function* (bench: Bench) {
  if (!existsSync(FAST_FOLDER)) return yield* bench.folder
  return yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(FAST_FOLDER, "tocsin-bench-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
  )
})

/** Lets many agents report to a server that is restarted, and counts what they send and what arrives. */
export const measureFleet = Effect.fnUntraced(function* (bench: Bench, one: FleetCase) {
  const keys = newKeys(one.agents)
  const spools = yield* folderOf(bench)
  const port = yield* Effect.promise(freePort)
  const options = {
    main: bench.main,
    folder: yield* bench.folder,
    databaseUrl: undefined,
    profileFolder: bench.profileFolder,
    port,
  }
  const fleet = yield* worker<FleetCommand, FleetResult>(new URL("../load/fleetProcess.ts", import.meta.url))
  const seconds = bench.measures.soakSeconds
  const first = Effect.gen(function* () {
    const server = yield* tocsin(options)
    yield* admit(server, keys)
    yield* fleet.ask({
      type: "start",
      port,
      keys,
      folder: spools,
      overSeconds: OVER_SECONDS,
      everySeconds: EVERY_SECONDS,
    })
    // A period more, until the last agent has begun to report.
    yield* Effect.sleep((OVER_SECONDS + EVERY_SECONDS) * 1_000)
    const begun = wallMillis()
    yield* Effect.sleep(seconds * BEFORE * 1_000)
    return begun
  })
  const begun = yield* Effect.scoped(first)
  const stopped = wallMillis()
  yield* Effect.sleep(DOWN_SECONDS * 1_000)
  const second = yield* tocsin(options)
  const back = wallMillis()
  yield* Effect.sleep(seconds * (1 - BEFORE) * 1_000)
  const { recorded, requests, waiting } = yield* fleet.ask({
    type: "finish",
    patienceSeconds: PATIENCE_SECONDS,
  })
  const wrong = wrongOf(recorded, yield* keptBy(second))
  const steady = median(ratesOf(requests, begun, stopped - 1_000))
  // A server that is starting answers before it is ready.
  const after = ratesOf(requests, stopped + DOWN_SECONDS * 1_000, back + seconds * (1 - BEFORE) * 1_000)
  const during = requests.filter((at) => at >= stopped && at < back).length / ((back - stopped) / 1_000)
  const result: CaseResult = {
    name: one.name,
    operations: "requests",
    series: [],
    figures: [
      { name: "requests a second", value: steady },
      {
        name: "× in 5 s after the restart",
        value: Math.max(...after) / steady,
        target: { bound: "at most", value: 2 },
      },
      { name: "× while it is down", value: during / steady },
      { name: "results reported", value: recorded.reduce((sum, count) => sum + count, 0) },
      { name: "lost, twice or late", value: wrong + waiting, target: { bound: "at most", value: 0 } },
    ],
  }
  return result
})
