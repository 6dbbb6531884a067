import { fieldPath } from "@tocsin/contract/describeIssue"
import * as Instant from "@tocsin/contract/Instant"
import { Commits } from "@tocsin/core/engine/commits/Commits"
import { eachPage } from "@tocsin/core/engine/lists/readPage"
import { findUnmatched, type PlacedMatcher } from "@tocsin/core/expectations/unmatchedOverdue"
import { findLostOverrides } from "@tocsin/core/onCall/overrideDecisions"
import { PolicyInForce } from "@tocsin/core/policy/PolicyInForce"
import { matchersOf } from "@tocsin/core/policy/policyWarnings"
import { Storage } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import { attention } from "./Finding.ts"

const SILENCES = { list: "silences", filter: {}, sort: "created_at", direction: "desc" } as const

/** Overrides that do not count, and matchers of the policy and of silences that match no overdue check any more. */
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
    ...lost.map(({ message, path }) =>
      attention("on call", `correct the policy or end the override: ${fieldPath(path)} ${message}`),
    ),
    ...unmatched.map(({ message, path }) =>
      attention("matchers", `correct this matcher: ${fieldPath(path)} ${message}`),
    ),
  ]
})
