import { Duration, Effect, Option, Semaphore } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { PolicyTrial } from "@tocsin/contract/Policies"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import { RateLimited } from "../admission/AdmissionErrors.ts"
import { receiversGiven } from "../policy/compilePolicy.ts"
import { policyHash } from "../policy/applyPolicy.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { policyTrial } from "../policy/policyTrial.ts"
import { Hashing } from "../ports/Hashing.ts"
import { PolicyBacktest } from "../ports/PolicyBacktest.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import type { StorageError } from "../ports/Storage.ts"
import { StateConflict } from "./OperationErrors.ts"

/** How much of the past a trial reads, and how long it may take (docs/rules.md#trials). */
const SPAN = Duration.days(30)
const RESULTS = 100_000
const LONGEST = Duration.minutes(1)
const RETRY_SECONDS = 10

const NO_HISTORY =
  "this process has no database whose history a policy can be tried on: use tocsin simulate --policy with lines of its API"
const TOO_LONG =
  "the trial took longer than a minute and was ended: run tocsin policy try beside the server instead"
const ANOTHER = "this server tries another policy now: try again once that has ended"

/** Tries a policy on the recorded past, beside the one in force. */
export type TryPolicy = (
  document: PolicyDocument,
  options: { readonly since?: Duration.Duration | undefined },
) => Effect.Effect<PolicyTrial, RateLimited | StateConflict | StorageError>

/** Makes {@link TryPolicy}, which runs one trial at a time. */
export const tryingPolicy = Effect.gen(function* () {
  const inForce = yield* PolicyInForce
  const hashing = yield* Hashing
  const given = yield* RuleSettings
  const backtest = yield* PolicyBacktest
  const unlessBusy = (yield* Semaphore.make(1)).withPermitsIfAvailable(1)
  const withReceivers = (policy: PolicyDocument) => ({ policy, notifiers: receiversGiven(policy, given) })
  const tried: TryPolicy = Effect.fn("Policies.try")(function* (document, { since = SPAN }) {
    if (backtest === undefined) return yield* new StateConflict({ message: NO_HISTORY })
    const { document: present } = inForce.current()
    const until = yield* Instant.now
    const from = Instant.minus(until, since)
    const backtested = yield* backtest({
      inForce: withReceivers(present),
      tried: withReceivers(document),
      since: from,
      until,
      staleAfter: given.staleAfter,
      most: RESULTS,
    }).pipe(
      Effect.timeoutOrElse({
        duration: LONGEST,
        orElse: () => Effect.fail(new StateConflict({ message: TOO_LONG })),
      }),
      unlessBusy,
    )
    if (Option.isNone(backtested))
      return yield* new RateLimited({ message: ANOTHER, retryAfterSeconds: RETRY_SECONDS })
    return policyTrial(backtested.value, { name: policyHash(present, hashing), since: from, until })
  })
  return tried
})
