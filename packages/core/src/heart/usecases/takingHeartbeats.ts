import { type Clock, Effect, type Redacted } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import type { AcceptedResponse } from "@tocsin/contract/v1/Responses"
import type { Commits, submittingUnsettled } from "../../kernel/engine/commits/Commits.ts"
import { TokenBuckets } from "../../kernel/engine/limits/TokenBuckets.ts"
import type { InstrumentsOf } from "../../kernel/engine/metrics/Instruments.ts"
import type { Hashing, KeyIdentity } from "../../kernel/ports/Hashing.ts"
import type { Ids } from "../../kernel/ports/Ids.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { StorageError } from "../../kernel/ports/Storage.ts"
import type { AgentBlocked, KeyConflict, NotAnAgentKey, RateLimited } from "../admission/AdmissionErrors.ts"
import { heartbeat, type HeartbeatInput } from "../admission/heartbeat.ts"
import type { HeartbeatOutcome } from "../model/admissionOutcomes.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { isTokenOf } from "../operators/tokens.ts"
import type { BodyBudget } from "./BodyBudget.ts"
import { heartbeatReplies, notAnAgentKey, tooMany } from "./ingestReplies.ts"
import type { requestMetrics } from "./requestMetrics.ts"

// At most about 10 MB, however many keys and addresses are tried.
export const BUCKETS_KEPT = 50_000

export type RequestInstruments = InstrumentsOf<typeof requestMetrics>

/** The parts of calls that share the limit of heartbeats. */
export interface CallParts extends Pick<Commits["Service"], "transact"> {
  readonly hashing: Hashing["Service"]
  readonly heartbeats: TokenBuckets
  readonly bodies: Pick<BodyBudget, "note">
  readonly ids: Ids["Service"]
  readonly instruments: RequestInstruments
  readonly incidents: IncidentOptions
  readonly rules: RuleOptions
}

const isOfAcceptedKey = (outcome: HeartbeatOutcome): boolean => outcome === "seen" || outcome === "preseeded"

/** Where a heartbeat comes from, as far as it is known. */
export interface HeartbeatSource {
  readonly address?: string | undefined
  /** The ID of the agent's process. */
  readonly process?: string | undefined
}

type HeartbeatError = AgentBlocked | KeyConflict | NotAnAgentKey | RateLimited | StorageError
type Ended = Effect.Effect<AcceptedResponse, HeartbeatError>

interface Needed extends CallParts {
  readonly submit: ReturnType<typeof submittingUnsettled>
  readonly newRegistrationId: HeartbeatInput["newRegistrationId"]
}

/** The steps that both ways of a heartbeat have. */
const stepsOf = (parts: Needed) => {
  const { bodies, hashing, heartbeats, incidents, instruments, newRegistrationId, rules, transact } = parts
  const registrations = new TokenBuckets(rules.registrationRate, BUCKETS_KEPT)
  const count = (outcome: keyof typeof instruments.heartbeats): void => {
    instruments.heartbeats[outcome].value += 1
  }
  const inputOf = (
    key: KeyIdentity,
    request: HeartbeatRequest,
    { mayRegister, process }: HeartbeatSource & Pick<HeartbeatInput, "mayRegister">,
  ): HeartbeatInput => ({ request, process, key, rules, mayRegister, incidents, newRegistrationId })
  const reply = ({ key_hash }: KeyIdentity, outcome: Exclude<HeartbeatOutcome, "unknown_key">) => {
    count(outcome)
    bodies.note(key_hash, isOfAcceptedKey(outcome))
    return heartbeatReplies[outcome]
  }
  /** Goes on once the limit of its key has let it pass. */
  const decided = (
    presented: Redacted.Redacted,
    request: HeartbeatRequest,
    { address, now, process }: HeartbeatSource & { readonly now: Instant.Instant },
  ): Ended => {
    const key = hashing.identify(presented)
    const decide = (mayRegister: boolean) =>
      transact(heartbeat(inputOf(key, request, { mayRegister, process })))
    const register = () =>
      Effect.flatMap(decide(true), (outcome) =>
        outcome === "unknown_key"
          ? Effect.die(new Error("a key that may be registered was refused as unknown"))
          : reply(key, outcome),
      )
    // Only unknown keys count against their address's registrations.
    const isCounted = address !== undefined && rules.registrationRate.perMinute > 0
    if (!isCounted && !isTokenOf("operator", presented)) return register()
    return Effect.flatMap(decide(false), (outcome): Ended => {
      if (outcome !== "unknown_key") return reply(key, outcome)
      // Only operators' tokens come here uncounted.
      if (!isCounted || isTokenOf("operator", presented)) return notAnAgentKey
      const registration = registrations.take(address, now)
      if (registration.allowed) return register()
      count("registration_limited")
      return tooMany.registrations(registration.retryAfterSeconds)
    })
  }
  const refusalOf = (presented: Redacted.Redacted, now: Instant.Instant) => {
    const permission = heartbeats.take(hashing.identify(presented).key_hash, now)
    if (permission.allowed) return undefined
    count("rate_limited")
    return tooMany.heartbeats(permission.retryAfterSeconds)
  }

  return { decided, inputOf, refusalOf, reply }
}

/** Takes heartbeats without a fiber, by a way of the storage that needs none. */
const beating =
  (
    { decided, inputOf, refusalOf, reply }: ReturnType<typeof stepsOf>,
    submit: NonNullable<Needed["submit"]>,
    { hashing }: CallParts,
  ) =>
  (
    presented: Redacted.Redacted,
    request: HeartbeatRequest,
    { clock, ...source }: HeartbeatSource & { readonly clock: Clock.Clock },
    resume: (ended: Ended) => void,
  ): (() => void) => {
    const now = Instant.fromNanos(clock.currentTimeNanosUnsafe())
    const refusal = refusalOf(presented, now)
    if (refusal !== undefined) {
      resume(refusal)
      return () => {}
    }
    const key = hashing.identify(presented)
    const command = heartbeat(inputOf(key, request, { ...source, mayRegister: false }))
    const goOn = (outcome: HeartbeatOutcome): Ended =>
      outcome === "unknown_key" ? decided(presented, request, { ...source, now }) : reply(key, outcome)
    return submit(command, clock, goOn, resume)
  }

/** The two ways of a heartbeat: by a fiber, and without one. */
export const takingHeartbeats = (parts: Needed) => {
  const steps = stepsOf(parts)
  const { decided, refusalOf } = steps
  const { submit } = parts
  return {
    /**
     * Takes a heartbeat; registers an unknown key. Safe to repeat. Durable when it succeeds.
     * Registrations are limited per `address`, if given (docs/rules.md#rate-limits); `process` is the agent's
     * (docs/rules.md#two-agents-with-one-key).
     * Few steps and no generator: this is the hot path.
     */
    heartbeat: (presented: Redacted.Redacted, request: HeartbeatRequest, source: HeartbeatSource = {}) =>
      Effect.flatMap(
        Instant.now,
        (now): Ended => refusalOf(presented, now) ?? decided(presented, request, { ...source, now }),
      ),
    /**
     * The same for a caller without a fiber: `resume` is called once with the effect by which it ends, mostly an exit.
     * Returns how to withdraw it. Absent where the storage has no such way.
     */
    beat: submit && beating(steps, submit, parts),
  }
}
