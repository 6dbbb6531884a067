import { Effect } from "effect"
import type { Bench } from "../Bench.ts"
import type { IntegrationsCase } from "../cases.ts"
import { callApi } from "../load/callApi.ts"
import { admit } from "../load/enrol.ts"
import { agentId, type Step } from "../load/Load.ts"
import type { LoadResult } from "../load/LoadRun.ts"
import { PINGED_CHECKS } from "../load/protocols/integrations.ts"
import type { ProtocolName } from "../load/protocols/protocols.ts"
import type { Tocsin } from "../processes/tocsin.ts"
import type { CaseResult, Series } from "../report/Results.ts"
import { notified } from "./settled.ts"
import { failureOf, newKeys, sampleOf, startServer, target } from "./target.ts"
import { ratio } from "./throughput.ts"

/** A check may be pinged once a second, and 20 times at once: so many at once leave room for the clock. */
const PINGS_OF_CHECK = 15
const REFILL_MILLIS = PINGS_OF_CHECK * 1_000

/** The keys of new integrations of a kind, without their prefix. */
const integrate = ({ port, token }: Tocsin, kind: string, count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => `${kind}-${agentId(index)}`),
    (name) =>
      callApi({
        method: "POST",
        port,
        token,
        path: "/ops/v1/integrations",
        body: JSON.stringify({ name, kind }),
      }).pipe(Effect.map((text) => String(JSON.parse(text).key).slice("in_".length))),
  )

/**
 * Measures pings beside single results of agents, and alerts beside batches of as many results. The limits of
 * rate are those of a new installation: pings come at once, and then pause.
 */
export const measureIntegrations = Effect.fnUntraced(function* (bench: Bench, one: IntegrationsCase) {
  const { repeats, seconds, warmUpSeconds } = bench.measures
  const { connections, integrations, ofEvents } = one
  const { postgres, server } = yield* startServer(bench, one.storage)
  const watched = { server: server.pid, ...(postgres !== undefined && { postgres: postgres.pid }) }
  const agentKeys = newKeys(integrations)
  yield* admit(server, agentKeys)
  const agents = yield* target([server.port], agentKeys, watched)
  const pinged = yield* target([server.port], yield* integrate(server, "ping", integrations), watched)
  const alerting = yield* target(
    [server.port],
    yield* integrate(server, "alertmanager", integrations),
    watched,
  )
  const all: Array<LoadResult> = []
  const measured = new Map<string, Array<LoadResult>>()
  let pingedAt = Number.NEGATIVE_INFINITY
  const measureOne = Effect.fnUntraced(function* (
    name: string,
    { run }: typeof agents,
    protocol: ProtocolName,
    step: Step,
  ) {
    const isSingle = step === "heartbeat"
    if (protocol === "pings") yield* Effect.sleep(Math.max(0, pingedAt + REFILL_MILLIS - performance.now()))
    const result = yield* run({
      load: [step],
      protocol,
      connections,
      seconds: isSingle ? 60 : seconds,
      warmUpSeconds: isSingle ? 0 : warmUpSeconds,
      requests: isSingle ? integrations * PINGED_CHECKS * PINGS_OF_CHECK : undefined,
    })
    if (protocol === "pings") pingedAt = performance.now()
    all.push(result)
    measured.set(name, [...(measured.get(name) ?? []), result])
  })
  // The first round creates the checks, opens the incidents, and warms up the compilers: it does not count.
  for (let repeat = 0; repeat <= repeats; repeat += 1) {
    yield* measureOne("pings", pinged, "pings", "heartbeat")
    yield* measureOne("single results", agents, "results", "heartbeat")
    yield* measureOne("alerts by 64", alerting, "alerts", "unchanged")
    yield* measureOne("results by 64", agents, "results", "unchanged")
    if (repeat > 0) continue
    const { port, token } = server
    yield* notified(
      one.name,
      callApi({ port, token, path: "/api/v1/notifiers/outbox?state=pending&limit=1" }),
    )
    measured.clear()
  }
  const samplesOf = (name: string) => (measured.get(name) ?? []).map(sampleOf)
  const failure = failureOf(["heartbeat", "unchanged"], all)
  const result: CaseResult = {
    name: one.name,
    operations: "results",
    series: Array.from(measured.keys(), (name): Series => ({
      name,
      samples: samplesOf(name),
      peakMiB: agents.peakMiB(),
    })),
    figures: [
      ratio("pings × single results", ofEvents, samplesOf("pings"), samplesOf("single results"), "server"),
      ratio(
        "alerts × results by 64",
        ofEvents,
        samplesOf("alerts by 64"),
        samplesOf("results by 64"),
        "server",
      ),
    ],
    ...(failure !== undefined && { failure }),
  }
  return result
})
