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
import {
  applyReports,
  integrationOfKey,
  type KnownIntegration,
  MOST_REPORTS,
  readRequest,
  type SenderInput,
} from "../integrations/applyReports.ts"
import { isIntegrationKey } from "../integrations/integrationKey.ts"
import { KINDS } from "../integrations/kinds.ts"
import type { Refusal, SenderRequest } from "../integrations/Report.ts"
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
type Sender = Pick<SenderInput, "key_hash" | "known">

interface Parts extends Pick<Instruments, "integrationRequests"> {
  readonly commits: Pick<Commits["Service"], "transact">
  readonly hashing: Hashing["Service"]
  readonly ids: Ids["Service"]
  readonly rules: RuleOptions
  readonly incidents: IncidentOptions
}

/** Takes one request of a sender, and one for its check, from their limits. */
const limiting = ({ integrationCheckRate, integrationRate }: RuleOptions) => {
  const perIntegration = new TokenBuckets(integrationRate, KEYS_KEPT)
  const perCheck = new TokenBuckets(integrationCheckRate, BUCKETS_KEPT)
  return Effect.fnUntraced(function* (name: AgentId, { path }: SenderRequest) {
    const now = yield* Instant.now
    for (const permission of [perIntegration.take(name, now), perCheck.take(`${name}/${path[0] ?? ""}`, now)])
      if (!permission.allowed) return yield* tooMany(permission.retryAfterSeconds)
  })
}

/** Takes a request in parts, each in its own transaction, and returns why it refuses some of it. */
const takingParts = (transact: Commits["Service"]["transact"], known: Map<KeyHash, KnownIntegration>) =>
  Effect.fnUntraced(function* (
    shared: Omit<SenderInput, "reading" | "start">,
  ): Effect.fn.Return<ReadonlyArray<Refusal> | "unknown_key", StorageError> {
    // Reading takes long, and a transaction may run again: it reads only what has changed since.
    let before: Pick<SenderInput, "known" | "reading"> = {
      known: shared.known,
      reading: readRequest(shared, shared.known.integration, yield* Instant.now),
    }
    const refusals: Array<Refusal> = []
    for (let start = 0; ; start += MOST_REPORTS) {
      const taken = yield* transact(applyReports({ ...shared, ...before, start }))
      if (taken === "unknown_key") return taken
      before = taken
      known.set(shared.key_hash, taken.known)
      refusals.push(...taken.refusals)
      const { reading } = taken
      if ("refused" in reading || start + MOST_REPORTS >= reading.reports.length) return refusals
    }
  })

/** Makes the calls of senders. */
export const senderCalls = ({
  commits,
  hashing,
  ids,
  incidents,
  integrationRequests,
  rules,
}: Parts): SenderCalls => {
  const limit = limiting(rules)
  const newEventId = newId<EventId>(ids)
  const transact = repeatingUnsettled(commits)
  // The integrations that had a key; the transaction of a report decides whether they still have it.
  const known = new Map<KeyHash, KnownIntegration>()
  const take = takingParts(transact, known)

  const recognise = Effect.fnUntraced(function* (key: Redacted.Redacted) {
    if (!isIntegrationKey(key)) return yield* UNKNOWN_KEY
    const { key_hash } = hashing.identify(key)
    const found = known.get(key_hash)
    if (found !== undefined) return { key_hash, known: found }
    const read = yield* commits.transact(integrationOfKey(key_hash))
    if (read === undefined) return yield* UNKNOWN_KEY
    if (known.size >= KEYS_KEPT) known.clear()
    known.set(key_hash, read)
    return { key_hash, known: read }
  })

  const report = Effect.fnUntraced(function* (
    kind: IntegrationKind,
    sender: Sender,
    request: SenderRequest,
  ): Effect.fn.Return<void, SenderError> {
    const { name } = sender.known.integration
    const count = (outcome: string) => {
      integrationRequests.of(name, outcome).value += 1
    }
    if (KINDS[kind].isLimited)
      yield* Effect.tapError(limit(name, request), () => Effect.sync(() => count("rate_limited")))
    const { sha256 } = hashing
    const { staleAfter } = rules
    const shared = { ...sender, kind, request, incidents, staleAfter, sha256, newEventId }
    const refusals = yield* take(shared)
    if (refusals === "unknown_key") {
      known.delete(sender.key_hash)
      return yield* UNKNOWN_KEY
    }
    const [first] = refusals
    count(first?.refused ?? "applied")
    if (first !== undefined) return yield* refused(first, refusals)
  })

  return { recognise, report }
}

const MOST_SENTENCES = 10

/** A request of which parts are refused, with a sentence for each. */
const refused = (
  { refused: why }: Refusal,
  refusals: ReadonlyArray<Refusal>,
): Effect.Effect<never, SenderError> => {
  const message = refusals
    .slice(0, MOST_SENTENCES)
    .map((refusal) => refusal.message)
    .join("\n")
  if (why === "not_found") return Effect.fail(new NotFound({ message }))
  return Effect.fail(why === "invalid" ? new ValidationError({ message }) : new StateConflict({ message }))
}
