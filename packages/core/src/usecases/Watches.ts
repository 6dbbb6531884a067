import { Context, Duration, Effect, Layer, Struct } from "effect"
import { signing } from "../audit/Signature.ts"
import { ValidationError } from "@tocsin/contract/Errors"
import type { CheckId, RegistrationId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import {
  type ChangeWatchRequest,
  type CreateWatchRequest,
  encodeProbe,
  type PauseWatchRequest,
  probesIn,
  type TryWatchRequest,
  USUAL_CONFIRM,
  USUAL_EVERY_MILLIS,
  type Watch,
  type WatchProbe,
} from "@tocsin/contract/Watches"
import { durationText } from "@tocsin/contract/durationMillis"
import { Commits } from "../engine/commits/Commits.ts"
import { readRow } from "../unitOfWork/load.ts"
import { type PageParameters, pageReader } from "../engine/lists/readPage.ts"
import type { Command } from "../unitOfWork/Decision.ts"
import { incidentOptions } from "../incidents/incidentOptions.ts"
import { FOREVER, isPaused, type WatchRecord, type WatchTerms } from "../model/WatchRecord.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { CurrentOperator } from "../ports/CurrentOperator.ts"
import { Hashing } from "../ports/Hashing.ts"
import { Ids, newId } from "../ports/Ids.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage } from "../ports/Storage.ts"
import { WatchProbes } from "../ports/WatchProbes.ts"
import { isWatchAgentTaken, type WatchAgent } from "../watches/watchAgent.ts"
import * as decisions from "../watches/watchDecisions.ts"
import { noSuch, StateConflict } from "./OperationErrors.ts"
import { headerSealing } from "./watchSecrets.ts"
import { tokenOf } from "../operators/tokens.ts"

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

const ONE_PROBE = "give exactly one probe: http, tcp, tls or dns"

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
    unconfirmed: record.against,
    ...Struct.pick(record, ["next_probe_at", "created_at", "created_by"]),
  }
}

/** The terms of a watch as a request or the policy gives them, with their defaults. */
export const watchTerms = (name: CheckId, given: Omit<CreateWatchRequest, "name">): WatchTerms => ({
  name,
  every_millis: given.every === undefined ? USUAL_EVERY_MILLIS : Duration.toMillis(given.every),
  confirm: { ...USUAL_CONFIRM, ...given.confirm },
  probe: encodeProbe(given),
  headers: undefined,
})

export const watchAgentOf = Effect.gen(function* () {
  const hashing = yield* Hashing
  const ids = yield* Ids
  const { watchAgent: name } = yield* RuleSettings
  const newRegistrationId = newId<RegistrationId>(ids)
  const newKey = () => ({ key: hashing.identify(tokenOf("integration", ids.secret())), newRegistrationId })
  return { name, newKey } satisfies WatchAgent
})

export const verifyWatchAgent = Effect.gen(function* () {
  const { watchAgent } = yield* RuleSettings
  const { transact } = yield* Commits
  if (yield* transact(isWatchAgentTaken(watchAgent))) return yield* agentTaken(watchAgent)
})

/** Watches: probes that the service repeats (docs/rules.md#watches). */
export class Watches extends Context.Service<Watches>()("@tocsin/core/usecases/Watches", {
  make: Effect.gen(function* () {
    const commits = yield* Commits
    const ids = yield* Ids
    const rules = yield* RuleSettings
    const probes = yield* WatchProbes
    const agent = yield* watchAgentOf
    const hashing = yield* Hashing
    const incidents = incidentOptions(ids, yield* PolicyInForce, rules, hashing)
    const signed = signing(commits, ids)
    const sealing = yield* headerSealing
    const page = pageReader(yield* Storage, hashing.sha256)
    const change = <A>(decide: (change: decisions.WatchChange) => Command<A>) =>
      signed((by) => decide({ agent, incidents, by }))

    /** Refuses anything but one probe with options that can be used. */
    const check = Effect.fnUntraced(function* (request: WatchProbe) {
      if (probesIn(request).length !== 1) return yield* new ValidationError({ message: ONE_PROBE })
      if (probes !== undefined) yield* probes.check(request)
    })

    const shown = Effect.fnUntraced(function* (result: WatchRecord | decisions.WatchRefusal) {
      if (typeof result !== "string") return toWatch(result, yield* Instant.now)
      if (result === "unknown") return yield* noSuch("watch")
      if (result === "taken") return yield* agentTaken(agent.name)
      return yield* new StateConflict({ message: CONFLICTS[result] })
    })

    return {
      list: (parameters: PageParameters) =>
        page({ list: "watches", filter: {}, sort: "name", direction: "asc" }, parameters, toWatch),
      get: Effect.fnUntraced(function* (name: CheckId) {
        const record = yield* commits.transact(readRow("watch", name))
        return record === undefined ? yield* noSuch("watch") : toWatch(record, yield* Instant.now)
      }),
      create: Effect.fn("Watches.create")(function* ({ name, ...given }: CreateWatchRequest) {
        yield* check(given)
        const terms = yield* sealing(watchTerms(name, given))
        const created = yield* change((by) => decisions.createWatch(terms, by))
        return yield* Effect.catchTag(shown(created), "NotFound", Effect.die)
      }),
      /** Changes a watch, or pauses it until it is resumed. */
      change: Effect.fn("Watches.change")(function* (
        name: CheckId,
        { confirm, every, is_paused, ...given }: ChangeWatchRequest,
      ) {
        const hasProbe = probesIn(given).length > 0
        if (hasProbe) yield* check(given)
        const changes = {
          ...(every !== undefined && { every_millis: Duration.toMillis(every) }),
          ...(confirm !== undefined && { confirm: { ...USUAL_CONFIRM, ...confirm } }),
          ...(hasProbe && Struct.pick(yield* sealing(watchTerms(name, given)), ["probe", "headers"])),
          ...(is_paused !== undefined && { is_paused }),
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
        if (probes !== undefined) return yield* probes.run(watch)
        return yield* noProbes()
      }),
    }
  }),
}) {
  static readonly layer = Layer.effect(Watches, Watches.make)
}
