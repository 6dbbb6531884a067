import { type Cause, Duration, Effect, Layer, Queue, Result, Stream } from "effect"
import { currentSignature } from "../../heart/audit/recordAudit.ts"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type CreateWatchRequest, type PolicyWatch } from "@tocsin/contract/watches/Watches"
import { decodeProbe } from "@tocsin/contract/watches/WatchProbe"
import { hasPlaces } from "@tocsin/contract/watches/watchSecrets"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { keepRepeating } from "../../kernel/engine/commits/keepRepeating.ts"
import { eachPage } from "../../kernel/engine/lists/readPage.ts"
import { CurrentInstruments } from "../../kernel/engine/metrics/Instruments.ts"
import { incidentOptions } from "../../heart/incidents/incidentOptions.ts"
import { ALL_WATCHES, type WatchRecord } from "./WatchRecord.ts"
import { PolicyInForce } from "../../heart/policy/PolicyInForce.ts"
import { CurrentOperator, systemOperator } from "../../kernel/ports/CurrentOperator.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import { Ids } from "../../kernel/ports/Ids.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { Storage, type StorageFailure } from "../../kernel/ports/Storage.ts"
import { SecretCipher } from "../../kernel/ports/SecretCipher.ts"
import { WatchProbes } from "../../kernel/ports/WatchProbes.ts"
import { type OpenedProbe, openedProbe, policySecrets } from "./openedProbe.ts"
import { type ProbeResult, recordProbes } from "./recordProbes.ts"
import { LOOK_EVERY } from "../../heart/replicas/ownerOf.ts"
import { dueAt, dueProbes } from "./schedule.ts"
import { followPolicyWatches } from "./watchDecisions.ts"
import { ReplicaIdentity } from "../../heart/usecases/Replicas.ts"
import { watchTerms, watchAgentOf } from "./Watches.ts"
import { watchesMetrics } from "./watchesMetrics.ts"

const MOST_RESULTS = 100
/** Failures that end without another command. */
const DOWN: ReadonlySet<StorageFailure> = new Set(["unavailable", "timed_out", "full", "read_only"])
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
    ...(yield* CurrentInstruments).of(watchesMetrics),
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

/** A watch of the policy as an operator could create it: without secrets. */
const withoutPlaces = ({
  http,
  websocket,
  ...others
}: Omit<PolicyWatch, "name">): Omit<CreateWatchRequest, "name"> => {
  const { auth: _auth, body: _body, headers: _ofPage, ...page } = http ?? { url: "" }
  const { headers: _ofSocket, ...socket } = websocket ?? { url: "" }
  return { ...others, ...(http && { http: page }), ...(websocket && { websocket: socket }) }
}

const probed = (probes: WatchProbes, probe: OpenedProbe) => {
  if (Result.isFailure(probe)) {
    const message = probe.failure
    return Effect.fail(new ValidationError({ message }))
  }
  const read = Result.try(() => decodeProbe(probe.success))
  return Result.isFailure(read) ? Effect.succeed(UNREADABLE) : probes.run(read.success)
}

const startProbe = (runner: Runner, probes: WatchProbes, watch: WatchRecord, probe: OpenedProbe) => {
  const { results, underWay } = runner
  underWay.add(watch.name)
  return Effect.suspend(() => probed(probes, probe)).pipe(
    // Stored under other settings.
    Effect.catchTag("ValidationError", (error) =>
      Effect.succeed({ status: "unknown" as const, output: error.message, duration_ms: 0 }),
    ),
    Effect.zip(Instant.now),
    Effect.flatMap(([trial, at]) =>
      Queue.offer(results, { ...trial, at, name: watch.name, due: watch.next_probe_at }),
    ),
    Effect.onError((cause) =>
      Effect.andThen(
        Effect.sync(() => underWay.delete(watch.name)),
        warnOf(`probing the watch ${watch.name}`, cause),
      ),
    ),
    Effect.forkScoped,
  )
}

const recordResults = ({ agent, change, commits, results, underWay, watchProbes }: Runner) => {
  return Effect.gen(function* () {
    const all = yield* Queue.takeBetween(results, 1, MOST_RESULTS)
    let isKept = false
    yield* commits.transact(recordProbes({ agent, results: all, ...change })).pipe(
      Effect.map(({ dropped, taken }) => {
        for (const status of taken) watchProbes.of(status).value += 1
        watchProbes.of("dropped").value += dropped
      }),
      // While the storage is down, they wait. Another failure may be theirs, and would hold all others.
      Effect.tapError(({ reason }) => {
        isKept = DOWN.has(reason)
        return isKept ? Queue.offerAll(results, all) : Effect.void
      }),
      Effect.ensuring(
        Effect.sync(() => {
          if (!isKept) for (const { name } of all) underWay.delete(name)
        }),
      ),
    )
  })
}

/** Seconds. */
const STANDS_IN_AFTER = 6
const LACKS_AFTER = 18

/** Whether a server may have secrets of a watch that another one lacks. */
const mayHaveMore = ({ policy }: Runner, { name, origin }: WatchRecord): boolean =>
  origin === "policy" && hasPlaces(policySecrets(policy.current().document, name) ?? {})

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
    for (const { owner, watch } of dueProbes(watches, replicas, now, sha256)) {
      const isOwn = owner === replica.id
      if (underWay.has(watch.name) || (!isOwn && !mayHaveMore(runner, watch))) continue
      const probe = openedProbe(runner, probes, watch)
      // A server that has the secrets of a watch stands in for its owner that lacks one.
      const wait = Result.isSuccess(probe)
        ? isOwn
          ? 0
          : STANDS_IN_AFTER
        : replicas.length > 1
          ? LACKS_AFTER
          : 0
      if ((isOwn || Result.isSuccess(probe)) && Instant.secondsBetween(watch.next_probe_at, now) >= wait)
        yield* startProbe(runner, probes, watch, probe)
    }
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
    // Their secrets stay with the policy, where each server finds them.
    const defined = watches.map(({ name, ...given }) => watchTerms(name, withoutPlaces(given)))
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
