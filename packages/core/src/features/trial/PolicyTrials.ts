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
import { HistoryTrial, type PolicyCounts, type TrialCounts } from "./HistoryTrial.ts"
import type { PolicyTrial, TriedReceiver } from "@tocsin/contract/trial/PolicyTrial"

/** The gaps in the tables' knowledge; part of every report. */
const UNKNOWN: ReadonlyArray<string> = [
  "freshness: unchanged results leave no trace, so no check counts as late",
  "labels and hostnames: those of today count for the whole time, also labels of checks",
  "stale agents: only the incidents of dead ones are stored, so an agent is no parent before its incident opens",
  "deleted agents and checks: their history is gone; incidents of blocked agents stay open",
  "delivery: each notification is one message that arrives at once; digests and repeated alerts are left out",
  "people: acknowledgements and silences count as they were given, though other messages might have changed them",
]

const sumOf = ({ messages }: PolicyCounts): number =>
  Array.from(messages.values()).reduce((sum, count) => sum + count, 0)

const receiversOf = ({ inForce, tried }: TrialCounts): ReadonlyArray<TriedReceiver> =>
  Array.from(new Set([...inForce.messages.keys(), ...tried.messages.keys()]))
    .toSorted()
    .map((receiver) => ({
      receiver,
      in_force: inForce.messages.get(receiver) ?? 0,
      tried: tried.messages.get(receiver) ?? 0,
    }))

/** The report about a policy that was tried beside the one in force, which has this name. */
export const policyTrial = (
  counted: TrialCounts,
  { name, since, until }: { readonly name: string } & Readonly<Record<"since" | "until", Instant.Instant>>,
): PolicyTrial => {
  const { inForce, past, tried } = counted
  return {
    since,
    until,
    history_from: past.from ?? null,
    results: past.results,
    in_force: name,
    messages: { in_force: sumOf(inForce), tried: sumOf(tried) },
    receivers: receiversOf(counted),
    held: tried.held,
    unknown: UNKNOWN,
  }
}

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
