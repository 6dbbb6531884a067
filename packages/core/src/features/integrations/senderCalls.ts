import { Effect, type Redacted } from "effect"
import { RateLimited } from "../../heart/admission/AdmissionErrors.ts"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { AgentId, KeyHash, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IntegrationKind } from "@tocsin/contract/integrations/Integrations"
import { type Commits, repeatingUnsettled } from "../../kernel/engine/commits/Commits.ts"
import { TokenBuckets } from "../../kernel/engine/limits/TokenBuckets.ts"
import { CurrentInstruments } from "../../kernel/engine/metrics/Instruments.ts"
import { applyReports, MOST_REPORTS, type SenderInput } from "./applyReports.ts"
import { readRequest } from "./readRequest.ts"
import { KINDS } from "./kinds.ts"
import {
  integrationOfKey,
  type KnownIntegration,
  mustNote,
  noteRequest,
  type TakenReports,
} from "./KnownIntegration.ts"
import { isRefusal } from "./sources.ts"
import { type Answer, type Refusal, type SenderRequest, withoutKeysIn } from "./Report.ts"
import { confirmed, Subscriptions } from "./Subscriptions.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { Storage, StorageError } from "../../kernel/ports/Storage.ts"
import { NotFound, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { isTokenOf } from "../../heart/operators/tokens.ts"
import { integrationsMetrics } from "./integrationsMetrics.ts"
import type { MailInput } from "./mail/MailInput.ts"
import { ALL_CHECKS, eachPage } from "../../kernel/engine/lists/readPage.ts"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"

/** Finds the check of an alert, page by page: senders seldom name an alert by its ID. */
const findAlert = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  agent_id: AgentId,
  isNamed: (check_id: CheckId) => boolean,
) {
  let found: CheckId | undefined
  yield* eachPage(storage, { ...ALL_CHECKS, filter: { agent_id } }, (rows) => {
    found = rows.find(({ check_id }) => isNamed(check_id))?.check_id
    return found === undefined
  })
  return found
})

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
  return (name: AgentId, check: string | undefined, now: Instant.Instant): RateLimited | undefined => {
    const both = [
      perIntegration.take(name, now),
      ...(check === undefined ? [] : [perCheck.take(`${name}/${check}`, now)]),
    ]
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
export const makeSenderCalls = Effect.gen(function* () {
  const { commits, hashing, options: incidents, rules, sha256, storage } = yield* operationPorts
  const { integrationRequests } = (yield* CurrentInstruments).of(integrationsMetrics)
  const limit = limiting(rules)
  const { longestAcknowledgement } = rules
  const subscriptions = yield* Subscriptions
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
      const answer = answered(kind, why, outcome)
      const confirms = isRefusal(outcome.reading) ? undefined : outcome.reading.confirms
      return confirms === undefined ? answer : Effect.andThen(confirmed(confirms, subscriptions), answer)
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
    report: (kind: IntegrationKind, sender: Sender, given: SenderRequest, mail?: MailInput): Replied =>
      Effect.flatMap(Instant.now, (now): Replied => {
        const request = withoutKeysIn(given)
        const { name, options } = sender.known.integration
        const decided = mail?.decide(options)
        const check =
          decided === undefined
            ? (request.path[0] ?? "")
            : decided.outcome === "applied"
              ? decided.report.check_id
              : undefined
        const early = KINDS[kind].isLimited ? limit(name, check, now) : undefined
        if (early !== undefined) {
          count(name, "rate_limited")
          return Effect.fail(early)
        }
        const taking = (asked: SenderRequest) =>
          take({ ...sender, kind, request: asked, incidents, longestAcknowledgement, mail }, now)
        const isNamed = KINDS[kind].alertNamed?.(request, { name, sha256 })
        if (isNamed === undefined) return taking(request)
        return Effect.flatMap(findAlert(storage, name, isNamed), (alert) => taking({ ...request, alert }))
      }),
  }
})
