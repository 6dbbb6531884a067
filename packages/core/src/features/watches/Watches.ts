import { Context, Duration, Effect, Layer, Struct } from "effect"
import { signing } from "../../heart/audit/recordAudit.ts"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { CheckId, type RegistrationId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  type ChangeWatchRequest,
  type CreateWatchRequest,
  type PauseWatchRequest,
  type TryWatchRequest,
  USUAL_CONFIRM,
  USUAL_EVERY_MILLIS,
  type Watch,
} from "@tocsin/contract/watches/Watches"
import { encodeProbe, probeKinds, probesIn, type WatchProbe } from "@tocsin/contract/watches/WatchProbe"
import type { Labels } from "@tocsin/contract/labels/Labels"
import { placeProblem, USUAL_FAILS, USUAL_FROM } from "@tocsin/contract/watches/places"
import { durationText } from "@tocsin/contract/formats/durationMillis"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import { watchNames } from "@tocsin/contract/policy/policyNames"
import { refuseUnknown } from "../../heart/usecases/Replicas.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { PlaceFollower } from "../../heart/checks/followingPlaces.ts"
import { placeFollower, readPlaces } from "./decideWatches.ts"
import { isPlaced, placesOf, turnsHere } from "./watchPlaces.ts"
import { type PageParameters, pageReader } from "../../kernel/engine/lists/readPage.ts"
import type { Command } from "../../kernel/unitOfWork/Decision.ts"
import { incidentOptions } from "../../heart/incidents/incidentOptions.ts"
import { FOREVER, isPaused, type WatchPlaces, type WatchRecord, type WatchTerms } from "./WatchRecord.ts"
import { PolicyInForce } from "../../heart/policy/PolicyInForce.ts"
import { CurrentOperator } from "../../kernel/ports/CurrentOperator.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { Ids, newId } from "../../kernel/ports/Ids.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { Storage } from "../../kernel/ports/Storage.ts"
import { WatchProbes } from "../../kernel/ports/WatchProbes.ts"
import { secretNames, withoutSecrets } from "@tocsin/contract/watches/watchSecrets"
import { daysProblems, probeProblems } from "@tocsin/contract/watches/probeProblems"
import { isWatchAgentTaken, type WatchAgent } from "./watchAgent.ts"
import * as decisions from "./watchDecisions.ts"
import { named } from "../../heart/usecases/named.ts"
import { NotFound, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { namesOf } from "./watchHeaders.ts"
import { policySecrets } from "./openedProbe.ts"
import { askingPlaces } from "./askingPlaces.ts"
import { listingPlaces } from "./listPlaces.ts"
import { headerSealing } from "./watchSecrets.ts"
import { tokenOf } from "../../heart/operators/tokens.ts"

const noSuchWatch = () =>
  new NotFound({ message: "no watch has this name; list watches with GET /ops/v1/watches" })

const agentTaken = (name: string) =>
  new StateConflict({
    message: `an agent or an integration has the name ${name}, which the agent of watches needs: delete it, or set SERVICE_WATCH_AGENT to another name`,
  })

const noProbes = () => new StateConflict({ message: "this process probes nothing: ask the server of Tocsin" })

const CONFLICTS = {
  closed: "the key of the watches' agent is blocked; replace it with POST integrations/{name}/rotate",
  name_in_use: "a watch has this name; choose another name",
  paused: "an admin has paused this watch until it is resumed; ask one to resume it",
  of_policy: "the policy defines this watch; change the policy",
  too_many: "there are 1000 watches, the most that there may be; remove one",
} as const

const ONE_PROBE = `give exactly one probe: ${probeKinds.slice(0, -1).join(", ")} or ${probeKinds.at(-1)}`

const shownProbe = ({ against, counted, output = "", probed_at: at, status }: WatchRecord) => ({
  status: counted ?? null,
  last: at === undefined || status === undefined ? null : { at, status, output },
  unconfirmed: against,
})

const shownDecision = ({ decided }: WatchPlaces) => ({
  status: decided?.status ?? null,
  last: decided === undefined ? null : { ...decided, at: Instant.fromMicros(BigInt(decided.at)) },
  unconfirmed: 0,
})

const toWatch = (
  record: WatchRecord,
  now: Instant.Instant,
  names: ReadonlyArray<string> = namesOf(record),
): Watch => {
  return {
    name: record.name,
    title: record.title ?? null,
    every: durationText(record.every_millis),
    confirm: { bad: record.confirm.bad, good: record.confirm.good },
    ...placesOf(record),
    labels: record.labels ?? {},
    ...withoutSecrets(record.probe),
    ...(names.length > 0 && { secrets: names }),
    is_of_policy: record.origin === "policy",
    is_paused: isPaused(record, now),
    paused_until:
      isPaused(record, now) && record.paused_until !== FOREVER ? (record.paused_until ?? null) : null,
    ...(isPlaced(record) ? shownDecision(record.places) : shownProbe(record)),
    ...Struct.pick(record, ["next_probe_at", "created_at", "created_by"]),
  }
}

const labelsOf = (given: Labels = {}): Labels | undefined =>
  Struct.keys(given).length === 0 ? undefined : given

/** The terms of a watch as a request or the policy gives them, with their defaults. */
export const watchTerms = (name: CheckId, given: Omit<CreateWatchRequest, "name">): WatchTerms => ({
  name,
  title: given.title,
  every_millis: given.every === undefined ? USUAL_EVERY_MILLIS : Duration.toMillis(given.every),
  confirm: { ...USUAL_CONFIRM, ...given.confirm },
  probe: encodeProbe(given),
  headers: undefined,
  from: given.from ?? USUAL_FROM,
  fails: given.fails ?? USUAL_FAILS,
  labels: labelsOf(given.labels),
})

export const watchAgentOf = Effect.gen(function* () {
  const hashing = yield* Hashing
  const ids = yield* Ids
  const { watchAgent: name } = yield* RuleSettings
  const newRegistrationId = newId<RegistrationId>(ids)
  const newKey = () => ({ key: hashing.identify(tokenOf("integration", ids.secret())), newRegistrationId })
  return { name, newKey } satisfies WatchAgent
})

/** Lets the ingest decide about watches by results of places. */
export const placeFollowing = Layer.effect(PlaceFollower, Effect.flatMap(watchAgentOf, placeFollower))

export const verifyWatchAgent = Effect.gen(function* () {
  const { watchAgent } = yield* RuleSettings
  const { transact } = yield* Commits
  if (yield* transact(isWatchAgentTaken(watchAgent))) return yield* agentTaken(watchAgent)
})

/** A watch as it is shown: of one of the policy, the names of the secrets are there. */
const showing =
  ({ current }: PolicyInForce["Service"]) =>
  (record: WatchRecord, now: Instant.Instant): Watch =>
    record.origin === "policy"
      ? toWatch(record, now, secretNames(policySecrets(current().document, record.name) ?? {}))
      : toWatch(record, now)

/** Refuses probes that this process, or a server beside it, could not run. */
const makeProbeChecks = Effect.gen(function* () {
  const probes = yield* WatchProbes
  const storage = yield* Storage
  /** Refuses anything but one probe with options that can be used. */
  const check = Effect.fnUntraced(function* (
    request: WatchProbe & Partial<Parameters<typeof placeProblem>[0]>,
  ) {
    if (probesIn(request).length !== 1) return yield* new ValidationError({ message: ONE_PROBE })
    const placed = placeProblem({ name: "", from: USUAL_FROM, fails: USUAL_FAILS, ...request })
    const [problem = placed] = [...probeProblems(request), ...daysProblems(request)]
    if (problem !== undefined)
      return yield* new ValidationError({ message: `${fieldPath(problem.path)} ${problem.message}` })
    if (probes !== undefined) yield* probes.check(request)
  })

  /** Refuses what a server of another version could not probe. */
  const needsAll = (watch: object) => refuseUnknown(storage, watchNames(watch))
  return { check, needsAll }
})

/** The terms that a request changes, but for its probe. */
const changesOf = ({ confirm, every, fails, from, is_paused, labels, title }: ChangeWatchRequest) => ({
  ...(title !== undefined && { title: title ?? undefined }),
  ...(every !== undefined && { every_millis: Duration.toMillis(every) }),
  ...(confirm !== undefined && { confirm: { ...USUAL_CONFIRM, ...confirm } }),
  ...(from !== undefined && { from }),
  ...(fails !== undefined && { fails }),
  ...(labels !== undefined && { labels: labelsOf(labels) }),
  ...(is_paused !== undefined && { is_paused }),
})

/** Watches: probes that the service repeats (docs/rules.md#watches). */
export class Watches extends Context.Service<Watches>()("@tocsin/core/features/watches/Watches", {
  make: Effect.gen(function* () {
    const commits = yield* Commits
    const ids = yield* Ids
    const rules = yield* RuleSettings
    const probes = yield* WatchProbes
    const agent = yield* watchAgentOf
    const hashing = yield* Hashing
    const policy = yield* PolicyInForce
    const incidents = incidentOptions(ids, policy, rules, hashing)
    const sealing = yield* headerSealing
    const { check, needsAll } = yield* makeProbeChecks
    const page = pageReader(yield* Storage, hashing.sha256)
    const show = showing(policy)
    const asking = yield* askingPlaces
    const change = <A>(decide: (change: decisions.WatchChange) => Command<A>) =>
      signing(commits, ids)((by) => decide({ agent, incidents, by }))

    const shown = Effect.fnUntraced(function* (
      result: WatchRecord | decisions.WatchRefusal | ValidationError,
    ) {
      if (result instanceof ValidationError) return yield* result
      if (typeof result !== "string") return show(result, yield* Instant.now)
      if (result === "unknown") return yield* noSuchWatch()
      if (result === "taken") return yield* agentTaken(agent.name)
      return yield* new StateConflict({ message: CONFLICTS[result] })
    })

    return {
      ...asking,
      places: yield* listingPlaces(agent.name),
      list: (parameters: PageParameters) =>
        page({ list: "watches", filter: {}, sort: "name", direction: "asc" }, parameters, show),
      get: Effect.fnUntraced(function* (name: CheckId) {
        const [found, now] = [yield* commits.transact(readPlaces(name, agent.name)), yield* Instant.now]
        if (found === undefined) return yield* noSuchWatch()
        return { ...show(found.watch, now), places: found.places, ...turnsHere(found.watch, now) }
      }),
      create: Effect.fn("Watches.create")(function* ({ name, ...given }: CreateWatchRequest) {
        yield* check({ ...given, ...(name !== undefined && { name }) })
        yield* needsAll(given)
        const created = yield* named({ name, title: given.title, otherwise: "watch" }, (chosen) =>
          Effect.flatMap(sealing(watchTerms(CheckId.make(chosen), given)), (terms) =>
            change((by) => decisions.createWatch(terms, by)),
          ),
        )
        return yield* Effect.catchTag(shown(created), "NotFound", Effect.die)
      }),
      /** Changes a watch, or pauses it until it is resumed. */
      change: Effect.fn("Watches.change")(function* (name: CheckId, request: ChangeWatchRequest) {
        const probe = Struct.pick(request, probeKinds)
        const hasProbe = probesIn(probe).length > 0
        if (hasProbe) yield* check(probe)
        yield* needsAll(Struct.omit(request, ["confirm", "every", "is_paused"]))
        const changes = {
          ...changesOf(request),
          ...(hasProbe && Struct.pick(yield* sealing(watchTerms(name, probe)), ["probe", "headers"])),
        }
        return yield* shown(yield* change((by) => decisions.changeWatch(name, changes, by)))
      }),
      /** Pauses a watch for a time, or ends its pause. */
      pause: Effect.fn("Watches.pause")(function* (name: CheckId, { for: time }: PauseWatchRequest) {
        const byAdmin = (yield* CurrentOperator).role === "admin"
        return yield* shown(yield* change((by) => decisions.pauseWatch(name, { time, byAdmin }, by)))
      }),
      /** Removes a watch with its check; count 0 if there is none of this name. */
      remove: Effect.fn("Watches.remove")(function* (name: CheckId) {
        const count = yield* change((by) => decisions.removeWatch(name, by))
        return count === "of_policy" ? yield* new StateConflict({ message: CONFLICTS[count] }) : { count }
      }),
      /** Runs the probe of a watch from this process now; nothing stores its result. */
      try: Effect.fn("Watches.try")(function* (watch: TryWatchRequest) {
        yield* check(watch)
        return yield* probes === undefined ? noProbes() : probes.run(watch)
      }),
    }
  }),
}) {
  static readonly layer = Layer.effect(Watches, Watches.make)
}
