import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import type { PeersCase } from "../cases.ts"
import { callApi } from "../load/callApi.ts"
import type { Step } from "../load/Load.ts"
import { alertRouter } from "../peers/alertRouter.ts"
import { icinga } from "../peers/icinga.ts"
import type { Peer } from "../peers/Peer.ts"
import { zabbix } from "../peers/zabbix.ts"
import { STORAGES, type Tocsin } from "../processes/tocsin.ts"
import type { CaseResult, Sample, Series } from "../report/Results.ts"
import { drained, notified } from "./settled.ts"
import { failureOf, newKeys, sampleOf, subject, type Target, target } from "./target.ts"

/** A service that is measured. */
interface Contender {
  readonly name: string
  readonly target: Target
  readonly peer?: Peer
  /** Of Tocsin, which has notifications to send after changes. */
  readonly server?: Tocsin
}

const WORK: Readonly<Record<Step, string>> = {
  heartbeat: "single reports",
  unchanged: "unchanged, by fifties",
  changing: "changing",
}

/** A page of the notifications that are still to be sent. */
const pendingOf = ({ port, token }: Tocsin) =>
  callApi({ port, token, path: "/api/v1/notifiers/outbox?state=pending&limit=1" })

const startPeers = Effect.fnUntraced(function* (bench: Bench) {
  const { agents } = bench.measures
  const postgres = yield* bench.postgres
  const databaseUrl = yield* postgres.database
  const started = {
    Alertmanager: yield* alertRouter({ agents, folder: yield* bench.folder }),
    "Icinga 2": yield* icinga({ agents, folder: yield* bench.folder }),
    Zabbix: yield* zabbix({ agents, databaseUrl, folder: yield* bench.folder }),
  }
  const contenders: Array<Contender> = []
  for (const [name, peer] of Object.entries(started)) {
    if (peer === undefined) {
      yield* bench.tell(`${name} is not installed, and left out`)
      continue
    }
    const watched = { server: peer.pid, ...(peer.stored !== undefined && { postgres: postgres.pid }) }
    const found = yield* target([peer.port], newKeys(agents), watched)
    contenders.push({ name: peer.name, peer, target: found })
  }
  return contenders
})

const startTocsin = (bench: Bench) =>
  Effect.forEach(
    STORAGES,
    Effect.fnUntraced(function* (storage) {
      const started = yield* subject(bench, storage)
      const contender: Contender = { name: `Tocsin, ${storage}`, target: started, server: started.server }
      return contender
    }),
  )

/** Measures the installed peers and Tocsin in turn, at each kind of work that they have. */
export const measurePeers = Effect.fnUntraced(function* (bench: Bench, one: PeersCase) {
  const { repeats, seconds, warmUpSeconds } = bench.measures
  const contenders = [...(yield* startTocsin(bench)), ...(yield* startPeers(bench))]
  const samples = new Map<string, Array<Sample>>()
  const add = (name: string, sample: Sample) => samples.set(name, [...(samples.get(name) ?? []), sample])
  const failures: Array<string> = []
  const measureOne = Effect.fnUntraced(function* (
    { name, peer, server, target: { run } }: Contender,
    step: Step,
  ) {
    const connections = one.connectionsOf[step]
    const stored = peer?.stored?.(step)
    const before = stored && { count: yield* stored, at: performance.now() }
    const protocol = peer?.protocol ?? "tocsin"
    const result = yield* run({ load: [step], protocol, connections, seconds, warmUpSeconds })
    const failure = failureOf([step], [result])
    if (failure !== undefined) failures.push(`${name}: ${failure}`)
    const row = `${WORK[step]}: ${name}`
    add(row, sampleOf(result))
    if (stored && before) {
      const after = yield* drained(name, stored)
      const perSecond = ((after.count - before.count) * 1000) / (after.at - before.at)
      add(`${row}, stored`, { perSecond, cpuMicros: {} })
    }
    if (server !== undefined && step === "changing") yield* notified(name, pendingOf(server))
  })
  for (const step of ["heartbeat", "unchanged", "changing"] as const) {
    for (let repeat = 1; repeat <= repeats; repeat += 1) {
      for (const contender of contenders)
        if (contender.peer?.steps.includes(step) !== false) yield* measureOne(contender, step)
    }
  }
  const result: CaseResult = {
    name: one.name,
    operations: "reports",
    series: Array.from(samples, ([name, found]): Series => ({ name, samples: found, peakMiB: {} })),
    figures: [],
    ...(failures.length > 0 && { failure: failures.join("; ") }),
  }
  return result
})
