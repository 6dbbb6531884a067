import { randomBytes } from "node:crypto"
import { Effect, Schedule } from "effect"
import type { Bench } from "../Bench.ts"
import { BenchFailure } from "../BenchFailure.ts"
import type { StormCase } from "../cases.ts"
import { enrol, silence, storm } from "../load/enrol.ts"
import { EVENTS_PER_BATCH } from "../load/Load.ts"
import { startReceiver } from "../load/Receiver.ts"
import { policySetting, silenceBodies } from "../load/stormPolicy.ts"
import { cpuSeconds } from "../processes/cpuSeconds.ts"
import { peakResidentMiB } from "../processes/residentMemory.ts"
import type { Tocsin } from "../processes/tocsin.ts"
import type { CaseResult, Sample } from "../report/Results.ts"
import { newKeys, startServer } from "./target.ts"
import { ratio } from "./throughput.ts"

const RECEIVER_MILLIS = 50
const SECRET_BYTES = 32

/** The settings of a server whose only notifier is a webhook to this address. */
export const webhookTo = (url: string) => ({
  SERVICE_NOTIFIERS: "webhook",
  SERVICE_WEBHOOK_URL: url,
  SERVICE_WEBHOOK_SECRET: `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`,
})

/** A server that has seen the storm. */
interface Struck {
  readonly server: Tocsin
  readonly sample: Sample
  /** Its share of a core before the storm, with the agents enrolled. */
  readonly sharePercent: number
}

const shareOf = Effect.fnUntraced(function* (pid: number, seconds: number) {
  const before = cpuSeconds(pid)
  yield* Effect.sleep(seconds * 1000)
  const after = cpuSeconds(pid)
  if (before === undefined || after === undefined)
    return yield* new BenchFailure({ message: "processor time is read from /proc, which is not here" })
  return ((after - before) / seconds) * 100
})

/** Starts a server with a slow receiver, and makes every check critical. */
const strike = Effect.fnUntraced(function* (
  bench: Bench,
  one: StormCase,
  policy: Parameters<typeof policySetting>[1] | undefined,
) {
  const folder = yield* bench.folder
  const { url } = yield* startReceiver(RECEIVER_MILLIS)
  const { server } = yield* startServer(bench, one.storage, {
    ...webhookTo(url),
    ...(policy !== undefined && policySetting(folder, policy)),
  })
  const keys = newKeys(one.incidents / EVENTS_PER_BATCH)
  yield* enrol(server, keys)
  if (policy === "routes") yield* silence(server, silenceBodies)
  const sharePercent = yield* shareOf(server.pid, bench.measures.settleSeconds)
  const [start, busy] = [performance.now(), cpuSeconds(server.pid) ?? 0]
  yield* storm(server, keys)
  const seconds = (performance.now() - start) / 1000
  const spent = (cpuSeconds(server.pid) ?? 0) - busy
  const sample = {
    perSecond: one.incidents / seconds,
    cpuMicros: { server: (spent * 1e6) / one.incidents },
  }
  const struck: Struck = { server, sample, sharePercent }
  return struck
})

interface Listed {
  readonly items: ReadonlyArray<{ readonly state: string; readonly held_by?: ReadonlyArray<string> }>
  readonly next_cursor: string | null
}

const page = ({ port, token }: Tocsin, query: string) =>
  Effect.tryPromise({
    try: async () => {
      const headers = { authorization: `Bearer ${token}` }
      const response = await fetch(`http://127.0.0.1:${port}/ops/v1/outbox?limit=500${query}`, { headers })
      if (!response.ok) throw new Error(`the outbox was answered with ${response.status}`)
      // The answer has the form that the API promises.
      return (await response.json()) as Listed
    },
    catch: (cause) => new BenchFailure({ message: String(cause) }),
  })

/** How many notifications are sent, held with a reason, or neither. */
const countOutbox = Effect.fnUntraced(function* (server: Tocsin) {
  const counts = { sent: 0, held: 0, other: 0 }
  for (let query = ""; ;) {
    const { items, next_cursor } = yield* page(server, query)
    for (const { held_by = [], state } of items)
      counts[state === "sent" ? "sent" : state === "pending" && held_by.length > 0 ? "held" : "other"] += 1
    if (next_cursor === null) return counts
    query = `&cursor=${encodeURIComponent(next_cursor)}`
  }
})

/** Waits until each incident's notification is sent or held. */
export const settled = (server: Tocsin, incidents: number) =>
  countOutbox(server).pipe(
    Effect.repeat({
      schedule: Schedule.spaced("2 seconds"),
      until: ({ held, other, sent }) => other === 0 && held + sent >= incidents,
      times: 60,
    }),
  )

/** Opens ten thousand incidents with and without a policy, in turn, and then leaves more of them held. */
export const measureStorm = Effect.fnUntraced(function* (bench: Bench, one: StormCase) {
  const plain: Array<Sample> = []
  const routed: Array<Sample> = []
  const unaccounted: Array<number> = []
  const peaks: Array<number> = []
  for (let repeat = 1; repeat <= bench.measures.repeats; repeat += 1) {
    plain.push((yield* Effect.scoped(strike(bench, one, undefined))).sample)
    const struck = Effect.gen(function* () {
      const { sample, server } = yield* strike(bench, one, "routes")
      const { held, sent } = yield* settled(server, one.incidents)
      unaccounted.push(one.incidents - held - sent)
      peaks.push(peakResidentMiB(server.pid) ?? Number.NaN)
      routed.push(sample)
    })
    yield* Effect.scoped(struck)
  }
  const held = yield* strike(bench, { ...one, incidents: one.held }, "everythingWaits")
  // The pass at the start is repeated a minute later.
  yield* Effect.sleep(bench.measures.soakSeconds * 200)
  const heldPercent = yield* shareOf(held.server.pid, bench.measures.soakSeconds / 2)
  const result: CaseResult = {
    name: one.name,
    operations: "incidents",
    series: [
      { name: "subject", samples: routed, peakMiB: { server: Math.max(...peaks) } },
      { name: "without a policy", samples: plain, peakMiB: {} },
    ],
    figures: [
      ratio("× without a policy", one.ofPlain, routed, plain, "server"),
      {
        name: "neither sent nor held",
        value: Math.max(...unaccounted),
        target: { bound: "at most", value: 0 },
      },
      {
        name: "MiB at most",
        value: Math.max(...peaks),
        target: { bound: "at most", value: one.mostMiB },
      },
      {
        name: "% of a core while held",
        value: Math.max(0, heldPercent - held.sharePercent),
        target: { bound: "at most", value: one.mostHeldPercent },
      },
    ],
  }
  return result
})
