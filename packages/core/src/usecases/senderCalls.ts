import { Effect, type Redacted } from "effect"
import { RateLimited } from "../admission/AdmissionErrors.ts"
import { ValidationError } from "@tocsin/contract/Errors"
import type { AgentId, EventId, KeyHash } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { IntegrationKind } from "@tocsin/contract/Integrations"
import type { Commits } from "../engine/commits/Commits.ts"
import { TokenBuckets } from "../engine/limits/TokenBuckets.ts"
import type { Instruments } from "../engine/metrics/Instruments.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { applyReport, integrationOfKey, type SenderInput } from "../integrations/applyReport.ts"
import { isIntegrationKey } from "../integrations/integrationKey.ts"
import type { SenderRequest } from "../integrations/Report.ts"
import type { Hashing } from "../ports/Hashing.ts"
import { type Ids, newId } from "../ports/Ids.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { StorageError } from "../ports/Storage.ts"
import { NotFound, StateConflict } from "./OperationErrors.ts"
import { repeatingUnsettled } from "./repeatingUnsettled.ts"

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

/** The calls of senders that do not speak the API (docs/rules.md#integrations). */
export interface SenderCalls {
  /** Finds the integration of a key before a body is read; fails as for every unknown key. */
  readonly recognise: (key: Redacted.Redacted) => Effect.Effect<Sender, NotFound | StorageError>
  /** Takes a request of a sender: durable when it succeeds, and safe to repeat. */
  readonly report: (
    kind: IntegrationKind,
    sender: Sender,
    request: SenderRequest,
  ) => Effect.Effect<void, SenderError>
}

/** A sender by its key, and the integration that had the key when it was last looked up. */
type Sender = Pick<SenderInput, "key_hash" | "name">

interface Parts extends Pick<Instruments, "integrationRequests"> {
  readonly commits: Pick<Commits["Service"], "transact">
  readonly hashing: Hashing["Service"]
  readonly ids: Ids["Service"]
  readonly rules: RuleOptions
  readonly incidents: IncidentOptions
}

/** Makes the calls of senders. */
export const senderCalls = ({
  commits,
  hashing,
  ids,
  incidents,
  integrationRequests,
  rules,
}: Parts): SenderCalls => {
  const perIntegration = new TokenBuckets(rules.integrationRate, KEYS_KEPT)
  const perCheck = new TokenBuckets(rules.integrationCheckRate, BUCKETS_KEPT)
  const newEventId = newId<EventId>(ids)
  const transact = repeatingUnsettled(commits)
  // Which integration had a key; the transaction of a report decides whether it still has it.
  const names = new Map<KeyHash, AgentId>()

  const recognise = Effect.fnUntraced(function* (key: Redacted.Redacted) {
    if (!isIntegrationKey(key)) return yield* UNKNOWN_KEY
    const { key_hash } = hashing.identify(key)
    const known = names.get(key_hash)
    if (known !== undefined) return { key_hash, name: known }
    const name = yield* commits.transact(integrationOfKey(key_hash))
    if (name === undefined) return yield* UNKNOWN_KEY
    if (names.size >= KEYS_KEPT) names.clear()
    names.set(key_hash, name)
    return { key_hash, name }
  })

  /** Takes one request of a sender, and one for its check, from their limits. */
  const limit = Effect.fnUntraced(function* (name: AgentId, { path }: SenderRequest) {
    const now = yield* Instant.now
    for (const permission of [perIntegration.take(name, now), perCheck.take(`${name}/${path[0] ?? ""}`, now)])
      if (!permission.allowed) return yield* tooMany(permission.retryAfterSeconds)
  })

  const report = Effect.fnUntraced(function* (
    kind: IntegrationKind,
    { key_hash, name }: Sender,
    request: SenderRequest,
  ): Effect.fn.Return<void, SenderError> {
    const count = (outcome: string) => {
      integrationRequests.of(name, outcome).value += 1
    }
    yield* Effect.tapError(limit(name, request), () => Effect.sync(() => count("rate_limited")))
    const { sha256 } = hashing
    const { staleAfter } = rules
    const outcome = yield* transact(
      applyReport({ kind, name, key_hash, request, incidents, staleAfter, sha256, newEventId }),
    )
    if (outcome === "unknown_key") {
      names.delete(key_hash)
      return yield* UNKNOWN_KEY
    }
    if ("applied" in outcome) return count("applied")
    count(outcome.refused)
    const { message } = outcome
    if (outcome.refused === "not_found") return yield* new NotFound({ message })
    if (outcome.refused === "invalid") return yield* new ValidationError({ message })
    return yield* new StateConflict({ message })
  })

  return { recognise, report }
}
