import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { Context, Duration, Effect, Layer, Option, Semaphore } from "effect"
import { RateLimited } from "../../heart/admission/AdmissionErrors.ts"
import { policyHash } from "../../heart/policy/applyPolicy.ts"
import { receiversGiven } from "../../heart/policy/compilePolicy.ts"
import { PolicyInForce } from "../../heart/policy/PolicyInForce.ts"
import { StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { Hashing } from "../../kernel/ports/Hashing.ts"
import { RuleSettings } from "../../kernel/ports/RuleSettings.ts"
import { HistoryTrial } from "./HistoryTrial.ts"
import { policyTrial } from "./policyTrial.ts"

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

/** Trials of a policy on the recorded past, beside the one in force (docs/rules.md#trials). They run one at a time. */
export class PolicyTrials extends Context.Service<PolicyTrials>()(
  "@tocsin/core/features/trial/PolicyTrials",
  {
    make: Effect.gen(function* () {
      const inForce = yield* PolicyInForce
      const hashing = yield* Hashing
      const { staleAfter } = yield* RuleSettings
      const play = yield* HistoryTrial
      const unlessBusy = (yield* Semaphore.make(1)).withPermitsIfAvailable(1)
      const withReceivers = (policy: PolicyDocument) => ({
        policy,
        notifiers: receiversGiven(policy, inForce.given()),
      })
      return {
        try: Effect.fn("Policies.try")(function* (
          document: PolicyDocument,
          { since = SPAN }: { readonly since?: Duration.Duration | undefined },
        ) {
          if (play === undefined) return yield* new StateConflict({ message: NO_HISTORY })
          const { document: present } = inForce.current()
          const until = yield* Instant.now
          const from = Instant.minus(until, since)
          const counted = yield* play({
            inForce: withReceivers(present),
            tried: withReceivers(document),
            since: from,
            until,
            staleAfter,
            most: RESULTS,
          }).pipe(
            Effect.timeoutOrElse({
              duration: LONGEST,
              orElse: () => Effect.fail(new StateConflict({ message: TOO_LONG })),
            }),
            unlessBusy,
          )
          if (Option.isNone(counted))
            return yield* new RateLimited({ message: ANOTHER, retryAfterSeconds: RETRY_SECONDS })
          return policyTrial(counted.value, { name: policyHash(present, hashing), since: from, until })
        }),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(PolicyTrials, PolicyTrials.make)
}
