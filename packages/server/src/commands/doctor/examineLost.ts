import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { eachPage } from "@tocsin/core/kernel/engine/lists/readPage"
import { findUnmatched, type PlacedMatcher } from "@tocsin/core/heart/overdue/unmatchedOverdue"
import { countUnknownJobs } from "@tocsin/core/features/integrations/unknownJobs"
import { findLostOverrides } from "@tocsin/core/features/onCall/overrideDecisions"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { matchersOf } from "@tocsin/core/heart/policy/policyWarnings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { plural } from "../../output/texts.ts"
import { attention, ok } from "./Finding.ts"

const SILENCES = { list: "silences", filter: {}, sort: "created_at", direction: "desc" } as const

/** Jobs that are unknown while they are late, unless there are none. */
const examineJobs = ({ jobs, unstated }: Effect.Success<ReturnType<typeof countUnknownJobs>>) => {
  const counted = `${plural(jobs, "job")} unknown while late`
  if (jobs === 0) return []
  return unstated === 0
    ? [ok("jobs", `${counted}, as their severity says`)]
    : [
        attention(
          "jobs",
          `${counted}, ${unstated} of them since before late jobs were critical: set their severity`,
        ),
      ]
}

/**
 * Overrides that do not count, matchers of the policy and of silences that match no late check any more, and jobs whose
 * lateness is no failure.
 */
export const examineLost = Effect.gen(function* () {
  const [commits, storage, now] = [yield* Commits, yield* Storage, yield* Instant.now]
  const policy = (yield* PolicyInForce).current()
  const lost = yield* commits.transact(findLostOverrides(policy))
  const placed: Array<PlacedMatcher> = [...matchersOf(policy.document)]
  yield* eachPage(storage, SILENCES, (silences) => {
    for (const { ends_at, id, matchers } of silences)
      if (ends_at > now) for (const matcher of matchers) placed.push({ matcher, path: [`silence ${id}`] })
    return Effect.void
  })
  const unmatched = yield* findUnmatched(storage, commits, placed)
  return [
    ...examineJobs(yield* countUnknownJobs(storage, commits)),
    ...lost.map(({ message, path }) =>
      attention("on call", `correct the policy or end the override: ${fieldPath(path)} ${message}`),
    ),
    ...unmatched.map(({ message, path }) =>
      attention("matchers", `correct this matcher: ${fieldPath(path)} ${message}`),
    ),
  ]
})
