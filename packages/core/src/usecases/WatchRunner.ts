import { type Cause, Duration, Effect, Layer, Queue, Result, Stream } from "effect"
import { currentSignature } from "../audit/Signature.ts"
import { ValidationError } from "@tocsin/contract/Errors"
import type { CheckId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { decodeProbe } from "@tocsin/contract/Watches"
import { Commits } from "../engine/commits/Commits.ts"
import { keepRepeating } from "../engine/commits/keepRepeating.ts"
import { eachPage } from "../engine/lists/readPage.ts"
import { CurrentInstruments } from "../engine/metrics/Instruments.ts"
import { incidentOptions } from "../incidents/incidentOptions.ts"
import type { WatchRecord } from "../model/WatchRecord.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { CurrentOperator, systemOperator } from "../ports/CurrentOperator.ts"
import { Hashing } from "../ports/Hashing.ts"
import { idlePause } from "../ports/IdlePause.ts"
import { Ids } from "../ports/Ids.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage } from "../ports/Storage.ts"
import { SecretCipher } from "../ports/SecretCipher.ts"
import { WatchProbes } from "../ports/WatchProbes.ts"
import { openProbe } from "../secrets/watchHeaders.ts"
import { type ProbeResult, recordProbes } from "../watches/recordProbes.ts"
import { LOOK_EVERY } from "../replicas/ownerOf.ts"
import { dueAt, dueProbes } from "../watches/schedule.ts"
import { followPolicyWatches } from "../watches/watchDecisions.ts"
import { ReplicaIdentity } from "./Replicas.ts"
import { watchTerms, watchAgentOf } from "./Watches.ts"

const ALL_WATCHES = { list: "watches", filter: {}, sort: "name", direction: "asc" } as const

const MOST_RESULTS = 100
// Many watches are due in each second; each look reads all of them.
const SHORTEST_PAUSE = Duration.seconds(1)

const warnOf = (task: string, cause: Cause.Cause<unknown>) =>
  Effect.logWarning(`${task} failed; Tocsin will retry`, cause)

const makeRunner = Effect.gen(function* () {
  const ids = yield* Ids
  const rules = yield* RuleSettings
  const policy = yield* PolicyInForce
  const { sha256 } = yield* Hashing
  return {
    ids,
    policy,
    sha256,
    storage: yield* Storage,
    commits: yield* Commits,
    replica: yield* ReplicaIdentity,
    cipher: yield* SecretCipher,
    agent: yield* watchAgentOf,
    instruments: yield* CurrentInstruments,
    results: yield* Queue.unbounded<ProbeResult>(),
    /** Watches whose probes run here, or whose results are not stored yet. */
    underWay: new Set<CheckId>(),
    change: { incidents: incidentOptions(ids, policy, rules, { sha256 }) },
  }
})
type Runner = Effect.Success<typeof makeRunner>

/** Nothing is known of the page or host that it watches. */
const UNREADABLE = {
  status: "unknown" as const,
  output:
    "this version cannot read the watch, which another one stored: upgrade this server, or create it again",
  duration_ms: 0,
}

/** Runs a probe with its header fields; without them, its page would answer otherwise. */
const probed = ({ cipher }: Runner, probes: WatchProbes, watch: WatchRecord) => {
  const opened = openProbe(watch, cipher)
  if (opened.probe === undefined)
    return Effect.fail(
      new ValidationError({
        message: `no key of SERVICE_SECRETS_KEY opens its header fields: give the servers the key ${watch.headers?.key_id ?? ""}, or change the watch with its header fields`,
      }),
    )
  const probe = Result.try(() => decodeProbe(opened.probe ?? watch.probe))
  return Result.isFailure(probe) ? Effect.succeed(UNREADABLE) : probes.run(probe.success)
}

const startProbe = (runner: Runner, probes: WatchProbes, watch: WatchRecord) => {
  const { results, underWay } = runner
  underWay.add(watch.name)
  return Effect.suspend(() => probed(runner, probes, watch)).pipe(
    // Stored under other settings.
    Effect.catchTag("ValidationError", (error) =>
      Effect.succeed({ status: "unknown" as const, output: error.message, duration_ms: 0 }),
    ),
    Effect.flatMap((trial) => Queue.offer(results, { ...trial, name: watch.name, due: watch.next_probe_at })),
    Effect.onError((cause) =>
      Effect.andThen(
        Effect.sync(() => underWay.delete(watch.name)),
        warnOf(`probing the watch ${watch.name}`, cause),
      ),
    ),
    Effect.forkScoped,
  )
}

const recordResults = ({ agent, change, commits, instruments, results, underWay }: Runner) => {
  const { watchProbes } = instruments
  return Effect.gen(function* () {
    const all = yield* Queue.takeBetween(results, 1, MOST_RESULTS)
    yield* commits.transact(recordProbes({ agent, results: all, ...change })).pipe(
      Effect.map(({ dropped, taken }) => {
        for (const status of taken) watchProbes.of(status).value += 1
        watchProbes.of("dropped").value += dropped
      }),
      Effect.ensuring(
        Effect.sync(() => {
          for (const { name } of all) underWay.delete(name)
        }),
      ),
    )
  })
}

/** Starts the probes that are due here, and returns how long to wait for the next. */
const startDue = (runner: Runner, probes: WatchProbes) => {
  const { replica, sha256, storage, underWay } = runner
  return Effect.gen(function* () {
    const watches: Array<WatchRecord> = []
    yield* eachPage(storage, ALL_WATCHES, (rows) => {
      watches.push(...rows)
    })
    if (watches.length === 0) return LOOK_EVERY
    const replicas = yield* storage.replicas
    const now = yield* Instant.now
    for (const { owner, watch } of dueProbes(watches, replicas, now, sha256))
      if (owner === replica.id && !underWay.has(watch.name)) yield* startProbe(runner, probes, watch)
    const next = Instant.earliest(watches.map((watch) => dueAt(watch, now)).filter((at) => at > now))
    if (next === undefined) return LOOK_EVERY
    const pause = Duration.seconds(Instant.secondsBetween(now, next))
    return Duration.clamp(pause, { minimum: SHORTEST_PAUSE, maximum: LOOK_EVERY })
  })
}

/** Makes the watches of the policy those that it defines. */
const followWatches = ({ agent, change, commits, ids, policy }: Runner) =>
  Effect.gen(function* () {
    const { watches = [] } = policy.current().document
    const defined = watches.map(({ name, ...given }) => watchTerms(name, given))
    const by = yield* currentSignature(ids)
    const refused = yield* commits.transact(followPolicyWatches(defined, { agent, ...change, by }))
    if (refused !== undefined)
      yield* Effect.logWarning(
        `the policy's watches are not created: the agent ${agent.name} is blocked, or not that of the watches`,
      )
  }).pipe(Effect.provideService(CurrentOperator, systemOperator))

/**
 * Probes the watches that this replica owns, and follows those of the policy, until the layer closes
 * (docs/rules.md#watches). Does nothing where the process has no probes.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const probes = yield* WatchProbes
    if (probes === undefined) return
    const runner = yield* makeRunner
    const replaced = yield* Stream.toQueue(runner.policy.replaced, { capacity: "unbounded" })
    const follow = Effect.andThen(followWatches(runner), Queue.take(replaced))
    const look = Effect.flatMap(startDue(runner, probes), idlePause)
    for (const [task, round] of [
      ["following the watches of the policy", follow],
      ["storing results of watches", recordResults(runner)],
      ["looking for due watches", look],
    ] as const)
      yield* Effect.forkScoped(
        keepRepeating(round, `${task} failed; Tocsin will retry`, idlePause(LOOK_EVERY)),
      )
  }),
)
