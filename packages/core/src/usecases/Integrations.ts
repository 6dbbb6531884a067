import { Context, Effect, Layer, Redacted } from "effect"
import { RateLimited } from "../admission/AdmissionErrors.ts"
import { signing } from "../audit/Signature.ts"
import { ValidationError } from "@tocsin/contract/Errors"
import type { AgentId, KeyHash, RegistrationId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type {
  ChangeIntegrationRequest,
  CreateIntegrationRequest,
  IntegrationKind,
  IntegrationWithKey,
} from "@tocsin/contract/Integrations"
import type { RotateOperatorRequest } from "@tocsin/contract/Operators"
import { Commits, repeatingUnsettled } from "../engine/commits/Commits.ts"
import { readRow } from "../unitOfWork/load.ts"
import { TokenBuckets } from "../engine/limits/TokenBuckets.ts"
import { type PageParameters, readPage } from "../engine/lists/readPage.ts"
import { CurrentInstruments } from "../engine/metrics/Instruments.ts"
import { incidentOptions } from "../incidents/incidentOptions.ts"
import { applyReports, MOST_REPORTS, readRequest, type SenderInput } from "../integrations/applyReports.ts"
import { findAlert } from "../integrations/findAlert.ts"
import * as decisions from "../integrations/integrationDecisions.ts"
import { KINDS } from "../integrations/kinds.ts"
import {
  integrationOfKey,
  type KnownIntegration,
  mustNote,
  noteRequest,
  type TakenReports,
} from "../integrations/KnownIntegration.ts"
import { ALL_INTEGRATIONS } from "../integrations/seeIntegrations.ts"
import { isRefusal } from "../integrations/sources.ts"
import { type Answer, type Refusal, type SenderRequest, withoutKeysIn } from "../integrations/Report.ts"
import type { IntegrationRecord } from "../model/IntegrationRecord.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Hashing } from "../ports/Hashing.ts"
import { Ids, newId } from "../ports/Ids.ts"
import { type RuleOptions, RuleSettings } from "../ports/RuleSettings.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import { noSuch, NotFound, StateConflict } from "./OperationErrors.ts"
import { USUAL_GRACE } from "./Operators.ts"
import { shownIntegrations } from "./shownIntegrations.ts"
import { isTokenOf, tokenOf } from "../operators/tokens.ts"

const CONFLICTS = {
  name_in_use: "an agent or an integration has this name; choose another name",
  too_many: "there are 1000 integrations, the most that there may be; remove one",
} as const

const urlsOf = ({ kind, options }: IntegrationRecord, key: string): ReadonlyArray<string> =>
  kind === "watch" ? [] : KINDS[kind].paths(key, options).map((path) => `/in/${kind}${path}`)

// At most about 2 MB, however many keys there were.
const KEYS_KEPT = 10_000
// Ten checks of each integration at their limit.
const BUCKETS_KEPT = 50_000

const tooMany = (retryAfterSeconds: number) =>
  new RateLimited({
    message: `too many requests; slow down and try again in ${retryAfterSeconds} s`,
    retryAfterSeconds,
  })

/** A request of a sender whose key is not valid, for this kind. */
const UNKNOWN_KEY = new NotFound({ message: "not found" })

type SenderError = NotFound | RateLimited | StateConflict | StorageError | ValidationError

/** A sender by its key, and the integration that had the key when it was last looked up. */
export type Sender = Pick<SenderInput, "key_hash" | "known">

const limiting = ({ integrationCheckRate, integrationRate }: RuleOptions) => {
  const perIntegration = new TokenBuckets(integrationRate, KEYS_KEPT)
  const perCheck = new TokenBuckets(integrationCheckRate, BUCKETS_KEPT)
  /** Why a request comes too soon; `undefined` if it does not. */
  return (name: AgentId, { path }: SenderRequest, now: Instant.Instant): RateLimited | undefined => {
    const both = [perIntegration.take(name, now), perCheck.take(`${name}/${path[0] ?? ""}`, now)]
    const refused = both.find(({ allowed }) => !allowed)
    return refused?.allowed === false ? tooMany(refused.retryAfterSeconds) : undefined
  }
}

export interface TakenRequest {
  /** Names the parts that were ignored; usually none. */
  readonly ignored: string
  readonly answer: Answer | undefined
}

type Replied = Effect.Effect<TakenRequest, SenderError>

/**
 * Takes a request in parts, each in its own transaction, and replies with why it refuses some of it. What it says
 * of its sender is noted after the last: a source that counts as heard never lacks what it said.
 * Few steps and no generator: this is the hot path.
 */
const takingParts = (
  transact: Commits["Service"]["transact"],
  known: Map<KeyHash, KnownIntegration>,
  reply: (input: SenderInput, outcome: Outcome | "unknown_key") => Replied,
) => {
  const takeFrom = (input: SenderInput, now: Instant.Instant, former: ReadonlyArray<Refusal>): Replied =>
    Effect.flatMap(transact(applyReports(input)), (taken): Replied => {
      if (taken === "unknown_key") return reply(input, taken)
      const refusals = former.length === 0 ? taken.refusals : [...former, ...taken.refusals]
      const { reading } = taken
      const start = input.start + MOST_REPORTS
      if (!isRefusal(reading) && start < reading.reports.length)
        return takeFrom({ ...input, known: taken.known, reading, start }, now, refusals)
      known.set(input.key_hash, taken.known)
      const whole = { ...taken, refusals }
      if (!mustNote(whole, now)) return reply(input, whole)
      return Effect.flatMap(transact(noteRequest(whole)), (noted) => {
        known.set(input.key_hash, noted)
        return reply(input, whole)
      })
    })
  // Reading takes long, and a transaction may run again: it reads only what has changed since.
  return (input: Omit<SenderInput, "reading" | "start">, now: Instant.Instant): Replied =>
    takeFrom({ ...input, reading: readRequest(input, input.known.integration, now), start: 0 }, now, [])
}

const MOST_SENTENCES = 10
const FULL_FOR_SECONDS = 60

type Outcome = Pick<TakenReports, "reading" | "refusals">

const answered = (
  kind: IntegrationKind,
  why: Refusal["refused"] | undefined,
  { reading, refusals }: Outcome,
): Replied => {
  const message = refusals
    .slice(0, MOST_SENTENCES)
    .map((refusal) => refusal.message)
    .join("\n")
  if (why === undefined)
    return Effect.succeed({ ignored: message, answer: isRefusal(reading) ? undefined : reading.answer })
  if (why === "not_found") return Effect.fail(new NotFound({ message }))
  if (why === "invalid") return Effect.fail(new ValidationError({ message }))
  return Effect.fail(
    KINDS[kind].isRefusedForNow === true
      ? new RateLimited({ message, retryAfterSeconds: FULL_FOR_SECONDS })
      : new StateConflict({ message }),
  )
}

/** Makes the calls of senders that do not speak the API (docs/rules.md#integrations). */
const makeSenderCalls = Effect.gen(function* () {
  const commits = yield* Commits
  const hashing = yield* Hashing
  const rules = yield* RuleSettings
  const incidents = incidentOptions(yield* Ids, yield* PolicyInForce, rules, hashing)
  const storage = yield* Storage
  const { integrationRequests } = yield* CurrentInstruments
  const limit = limiting(rules)
  const { longestAcknowledgement } = rules
  const { sha256 } = hashing
  // The integrations that had a key; the transaction of a report decides whether they still have it.
  const known = new Map<KeyHash, KnownIntegration>()
  const count = (name: AgentId, outcome: string): void => {
    integrationRequests.of(name, outcome).value += 1
  }
  const take = takingParts(
    repeatingUnsettled(commits),
    known,
    ({ key_hash, kind, known: { integration } }, outcome): Replied => {
      if (outcome === "unknown_key") {
        known.delete(key_hash)
        return Effect.fail(UNKNOWN_KEY)
      }
      const why = outcome.refusals.find(({ refused }) => refused !== "ignored")?.refused
      count(integration.name, why ?? "applied")
      return answered(kind, why, outcome)
    },
  )
  return {
    /** Finds the integration of a key before a body is read; fails as for every unknown key. */
    recognise: Effect.fnUntraced(function* (key: Redacted.Redacted) {
      if (!isTokenOf("integration", key)) return yield* UNKNOWN_KEY
      const { key_hash } = hashing.identify(key)
      const found = known.get(key_hash)
      if (found !== undefined) return { key_hash, known: found }
      const read = yield* commits.transact(integrationOfKey(key_hash))
      if (read === undefined) return yield* UNKNOWN_KEY
      if (known.size >= KEYS_KEPT) known.clear()
      known.set(key_hash, read)
      return { key_hash, known: read }
    }),
    /** Takes a request of a sender: durable when it succeeds, and safe to repeat. */
    report: (kind: IntegrationKind, sender: Sender, given: SenderRequest): Replied =>
      Effect.flatMap(Instant.now, (now): Replied => {
        const request = withoutKeysIn(given)
        const { name } = sender.known.integration
        const early = KINDS[kind].isLimited ? limit(name, request, now) : undefined
        if (early !== undefined) {
          count(name, "rate_limited")
          return Effect.fail(early)
        }
        const taking = (asked: SenderRequest) =>
          take({ ...sender, kind, request: asked, incidents, longestAcknowledgement }, now)
        const isNamed = KINDS[kind].alertNamed?.(request, { name, sha256 })
        if (isNamed === undefined) return taking(request)
        return Effect.flatMap(findAlert(storage, name, isNamed), (alert) => taking({ ...request, alert }))
      }),
  }
})

/** Integrations, and the reports of their senders (docs/rules.md#integrations). */
export class Integrations extends Context.Service<Integrations>()("@tocsin/core/usecases/Integrations", {
  make: Effect.gen(function* () {
    const commits = yield* Commits
    const hashing = yield* Hashing
    const ids = yield* Ids
    const rules = yield* RuleSettings
    const incidents = incidentOptions(ids, yield* PolicyInForce, rules, hashing)
    const signed = signing(commits, ids)
    const { sha256 } = hashing
    const storage = yield* Storage
    const { fullness, nearlyFull, noteworthy, show, showAll } = shownIntegrations(storage, sha256)
    yield* (yield* CurrentInstruments).addSource(fullness)
    const newRegistrationId = newId<RegistrationId>(ids)

    const newKey = Effect.sync(() => {
      const secret = tokenOf("integration", ids.secret())
      return { secret, opening: { key: hashing.identify(secret), newRegistrationId } }
    })
    const withKey = (record: IntegrationRecord, secret: Redacted.Redacted) => {
      const key = Redacted.value(secret)
      const urls = urlsOf(record, key).map((url) => `${rules.publicUrl ?? ""}${url}`)
      return Effect.map(show(record), (shown): IntegrationWithKey => ({ ...shown, key, urls }))
    }
    const required = (record: IntegrationRecord | undefined) =>
      record === undefined ? Effect.fail(noSuch("integration")) : Effect.succeed(record)

    return {
      ...(yield* makeSenderCalls),
      get: (name: AgentId) =>
        commits.transact(readRow("integration", name)).pipe(Effect.flatMap(required), Effect.flatMap(show)),
      list: Effect.fnUntraced(function* (parameters: PageParameters) {
        const read = yield* readPage(storage, sha256, ALL_INTEGRATIONS, parameters)
        return { ...read, items: yield* showAll(read.items) }
      }),
      nearlyFull,
      noteworthy,
      /** Creates an integration with its agent, and returns its key this once. */
      create: Effect.fn("Integrations.create")(function* ({
        kind,
        name,
        options = {},
      }: CreateIntegrationRequest) {
        const { opening, secret } = yield* newKey
        const created = yield* signed((by) =>
          decisions.createIntegration({ kind, name, options }, opening, by),
        )
        if (created instanceof ValidationError) return yield* created
        if (typeof created === "string") return yield* new StateConflict({ message: CONFLICTS[created] })
        return yield* withKey(created, secret)
      }),
      change: Effect.fn("Integrations.change")(function* (
        name: AgentId,
        { options }: ChangeIntegrationRequest,
      ) {
        const changed = yield* signed((by) => decisions.changeIntegration(name, options, incidents, by))
        if (changed instanceof ValidationError) return yield* changed
        return yield* show(yield* required(changed))
      }),
      /** Replaces the key of an integration, and returns the new one this once. Opens a closed one. */
      rotate: Effect.fn("Integrations.rotate")(function* (
        name: AgentId,
        { grace = USUAL_GRACE }: RotateOperatorRequest,
      ) {
        const { opening, secret } = yield* newKey
        const rotated = yield* signed((by) => decisions.rotateKey(name, { ...opening, grace }, by))
        return yield* withKey(yield* required(rotated), secret)
      }),
      /** Removes an integration with its agent; count 0 if there is none of this name. */
      remove: Effect.fn("Integrations.remove")(function* (name: AgentId) {
        return { count: yield* signed((by) => decisions.removeIntegration(name, incidents, by)) }
      }),
    }
  }),
}) {
  static readonly layer = Layer.effect(Integrations, Integrations.make)
}
