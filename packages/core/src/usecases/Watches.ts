import { Context, Duration, Effect, Layer } from "effect"
import { type Signature, currentSignature } from "../audit/Signature.ts"
import { ValidationError } from "@tocsin/contract/Errors"
import type { CheckId, RegistrationId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { ActionCountResponse } from "@tocsin/contract/Responses"
import {
  type ChangeWatchRequest,
  type CreateWatchRequest,
  encodeProbe,
  type PauseWatchRequest,
  probeOf,
  probesIn,
  type TryWatchRequest,
  USUAL_CONFIRM,
  USUAL_EVERY_MILLIS,
  type Watch,
  type WatchTrial,
} from "@tocsin/contract/Watches"
import { durationText } from "@tocsin/contract/durationMillis"
import { Commits } from "../engine/commits/Commits.ts"
import { type Page, type PageParameters, readPage } from "../engine/lists/readPage.ts"
import { incidentOptions } from "../incidents/incidentOptions.ts"
import { integrationKey } from "../integrations/integrationKey.ts"
import { FOREVER, isPaused, type WatchRecord, type WatchTerms } from "../model/WatchRecord.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { CurrentOperator } from "../ports/CurrentOperator.ts"
import { Hashing } from "../ports/Hashing.ts"
import { Ids, newId } from "../ports/Ids.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import { WatchProbes } from "../ports/WatchProbes.ts"
import { isWatchAgentTaken, type WatchAgent } from "../watches/watchAgent.ts"
import * as decisions from "../watches/watchDecisions.ts"
import { NotFound, StateConflict } from "./OperationErrors.ts"

const agentTaken = (name: string) =>
  new StateConflict({
    message: `an agent or an integration has the name ${name}, which the agent of watches needs: delete it, or set SERVICE_WATCH_AGENT to another name`,
  })

const noProbes = () => new StateConflict({ message: "this process probes nothing: ask the server of Tocsin" })

const noSuchWatch = () =>
  new NotFound({ message: "no watch has this name; list watches with GET /ops/v1/watches" })

const CONFLICTS = {
  closed: "the key of the watches' agent is blocked; replace it with POST integrations/{name}/rotate",
  name_in_use: "a watch has this name; choose another name",
  paused: "an admin has paused this watch until it is resumed; ask one to resume it",
  of_policy: "the policy defines this watch; change the policy",
  too_many: "there are 1000 watches, the most that there may be; remove one",
} as const

const ONE_PROBE = "give exactly one probe: http, tcp, tls or dns"

/** A watch as it is shown, without header fields. */
const toWatch = (record: WatchRecord, now: Instant.Instant): Watch => {
  const { http, ...others } = record.probe
  const { headers: _headers, ...page } = http ?? { url: "" }
  return {
    name: record.name,
    every: durationText(record.every_millis),
    confirm: { bad: record.confirm.bad, good: record.confirm.good },
    ...(http !== undefined && { http: page }),
    ...others,
    is_of_policy: record.origin === "policy",
    is_paused: isPaused(record, now),
    paused_until:
      isPaused(record, now) && record.paused_until !== FOREVER ? (record.paused_until ?? null) : null,
    status: record.counted ?? null,
    last:
      record.probed_at === undefined || record.status === undefined
        ? null
        : { at: record.probed_at, status: record.status, output: record.output ?? "" },
    next_probe_at: record.next_probe_at,
    created_at: record.created_at,
    created_by: record.created_by,
  }
}

/** The terms of a watch as a request or the policy gives them, with their defaults. */
export const termsOf = (name: CheckId, given: Omit<CreateWatchRequest, "name">): WatchTerms => ({
  name,
  every_millis: given.every === undefined ? USUAL_EVERY_MILLIS : Duration.toMillis(given.every),
  confirm: { ...USUAL_CONFIRM, ...given.confirm },
  probe: encodeProbe(probeOf(given)),
})

/** The agent of watches, by the settings. */
export const watchAgentOf = Effect.gen(function* () {
  const hashing = yield* Hashing
  const ids = yield* Ids
  const { watchAgent: name } = yield* RuleSettings
  const newRegistrationId = newId<RegistrationId>(ids)
  const newKey = () => ({ key: hashing.identify(integrationKey(ids.secret())), newRegistrationId })
  return { name, newKey } satisfies WatchAgent
})

/** Fails if another agent has the name of the watches' agent. */
export const verifyWatchAgent = Effect.gen(function* () {
  const { watchAgent } = yield* RuleSettings
  const { transact } = yield* Commits
  if (yield* transact(isWatchAgentTaken(watchAgent))) return yield* agentTaken(watchAgent)
})

type ChangeError = NotFound | StateConflict | StorageError | ValidationError

/** Watches: probes that the service repeats (docs/rules.md#watches). */
export class Watches extends Context.Service<
  Watches,
  {
    /** Watches by name. */
    readonly list: (parameters: PageParameters) => Effect.Effect<Page<Watch>, ValidationError | StorageError>
    /** One watch. */
    readonly get: (name: CheckId) => Effect.Effect<Watch, NotFound | StorageError>
    /** Creates a watch. */
    readonly create: (
      request: CreateWatchRequest,
    ) => Effect.Effect<Watch, StateConflict | StorageError | ValidationError>
    /** Changes a watch, or pauses it until it is resumed. */
    readonly change: (name: CheckId, request: ChangeWatchRequest) => Effect.Effect<Watch, ChangeError>
    /** Pauses a watch for a time, or ends its pause. */
    readonly pause: (name: CheckId, request: PauseWatchRequest) => Effect.Effect<Watch, ChangeError>
    /** Removes a watch with its check; count 0 if there is none of this name. */
    readonly remove: (name: CheckId) => Effect.Effect<ActionCountResponse, StateConflict | StorageError>
    /** Runs a probe from this process now; nothing stores its result. */
    readonly try: (watch: TryWatchRequest) => Effect.Effect<WatchTrial, StateConflict | ValidationError>
  }
>()("@tocsin/core/usecases/Watches") {
  static readonly layer = Layer.effect(
    Watches,
    Effect.gen(function* () {
      const storage = yield* Storage
      const { transact } = yield* Commits
      const hashing = yield* Hashing
      const ids = yield* Ids
      const rules = yield* RuleSettings
      const probes = yield* WatchProbes
      const agent = yield* watchAgentOf
      const incidents = incidentOptions(ids, yield* PolicyInForce, rules)
      const signature = currentSignature(ids)
      const { staleAfter } = rules
      const changeBy = (by: Signature): decisions.WatchChange => ({ agent, incidents, staleAfter, by })

      /** Refuses anything but one probe with options that can be used. */
      const check = Effect.fnUntraced(function* (request: TryWatchRequest) {
        if (probesIn(request).length !== 1) return yield* new ValidationError({ message: ONE_PROBE })
        if (probes !== undefined) yield* probes.check(probeOf(request))
      })

      const shown = Effect.fnUntraced(function* (result: WatchRecord | decisions.WatchRefusal) {
        if (typeof result !== "string") return toWatch(result, yield* Instant.now)
        if (result === "unknown") return yield* noSuchWatch()
        if (result === "taken") return yield* agentTaken(agent.name)
        return yield* new StateConflict({ message: CONFLICTS[result] })
      })

      return Watches.of({
        list: Effect.fnUntraced(function* (parameters) {
          const query = { list: "watches", filter: {}, sort: "name", direction: "asc" } as const
          const page = yield* readPage(storage, hashing.sha256, query, parameters)
          const now = yield* Instant.now
          return { ...page, items: page.items.map((record) => toWatch(record, now)) }
        }),
        get: Effect.fnUntraced(function* (name) {
          const record = yield* transact(decisions.readWatch(name))
          return record === undefined ? yield* noSuchWatch() : toWatch(record, yield* Instant.now)
        }),
        create: Effect.fn("Watches.create")(function* ({ name, ...given }) {
          yield* check(given)
          const created = yield* transact(
            decisions.createWatch(termsOf(name, given), changeBy(yield* signature)),
          )
          return yield* Effect.catchTag(shown(created), "NotFound", Effect.die)
        }),
        change: Effect.fn("Watches.change")(function* (name, { confirm, every, is_paused, ...given }) {
          const hasProbe = probesIn(given).length > 0
          if (hasProbe) yield* check(given)
          const changes = {
            ...(every !== undefined && { every_millis: Duration.toMillis(every) }),
            ...(confirm !== undefined && { confirm: { ...USUAL_CONFIRM, ...confirm } }),
            ...(hasProbe && { probe: encodeProbe(probeOf(given)) }),
            ...(is_paused !== undefined && { is_paused }),
          }
          const by = changeBy(yield* signature)
          return yield* shown(yield* transact(decisions.changeWatch(name, changes, by)))
        }),
        pause: Effect.fn("Watches.pause")(function* (name, { for: time }) {
          const byAdmin = (yield* CurrentOperator).role === "admin"
          const by = changeBy(yield* signature)
          return yield* shown(yield* transact(decisions.pauseWatch(name, { time, byAdmin }, by)))
        }),
        remove: Effect.fn("Watches.remove")(function* (name) {
          const by = changeBy(yield* signature)
          const count = yield* transact(decisions.removeWatch(name, by))
          return count === "of_policy" ? yield* new StateConflict({ message: CONFLICTS[count] }) : { count }
        }),
        try: Effect.fn("Watches.try")(function* (watch) {
          yield* check(watch)
          if (probes !== undefined) return yield* probes.run(watch)
          return yield* noProbes()
        }),
      })
    }),
  )
}
