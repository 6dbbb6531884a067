import { Effect } from "effect"
import { historyOf, incidentsOf, outboxOf } from "../processes/api.ts"
import { until } from "../processes/until.ts"
import type { Fault, Setup } from "./Fault.ts"
import type { FaultyPostgres } from "./FaultyPostgres.ts"
import { judge, type Round } from "./judge.ts"
import { openStage } from "./openStage.ts"

/** A run of a fault. */
export interface FaultRun {
  readonly setup: Setup
  readonly rounds: number
  readonly seed: number
  readonly postgres: FaultyPostgres | undefined
}

/** Between two rounds, at least and beyond that. */
const PEACE = "500 millis"
const LONGEST_MORE_MILLIS = 1_500

const UNFINISHED: ReadonlySet<string> = new Set(["pending", "sending", "retry"])

/** Causes a fault again and again under load, and compares what is there in the end with what was sent. */
export const runFault = Effect.fnUntraced(function* (fault: Fault, run: FaultRun) {
  const prepared = yield* fault.prepare
  const stage = yield* openStage(prepared, run.setup, run)
  const { load, places, receiver } = stage
  const servers = places.map(({ index }) => index)
  yield* load.acknowledgedBy(servers, 0)
  const rounds: Array<Round> = []
  while (rounds.length < run.rounds) {
    yield* Effect.sleep(PEACE)
    yield* stage.anyMoment(LONGEST_MORE_MILLIS)
    yield* Effect.scoped(prepared.inflict(stage))
    const endedAt = stage.overSince() ?? performance.now()
    rounds.push({ endedAt, recoveredAt: yield* load.acknowledgedBy(servers, endedAt) })
  }
  yield* load.finish
  const [place] = places
  // The third attempt comes after half a minute, the fourth two minutes later.
  const outbox = yield* until(
    "every notification has ended",
    Effect.map(outboxOf(place), (items) => items.every(({ state }) => !UNFINISHED.has(state))),
    "4 minutes",
  ).pipe(Effect.exit, Effect.andThen(outboxOf(place)))
  return judge({
    submissions: load.submissions,
    rounds,
    arrivals: receiver.arrivals,
    history: yield* historyOf(place),
    incidents: yield* incidentsOf(place),
    outbox: outbox.filter(({ notifier }) => notifier === "webhook"),
    mails: { arrivals: receiver.mails, outbox: outbox.filter(({ notifier }) => notifier === "messenger") },
  })
}, Effect.scoped)
