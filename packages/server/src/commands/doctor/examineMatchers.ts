import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { eachPage } from "@tocsin/core/kernel/engine/lists/readPage"
import { findUnmatched, type PlacedMatcher } from "@tocsin/core/heart/overdue/unmatchedOverdue"
import { PolicyInForce } from "@tocsin/core/heart/policy/PolicyInForce"
import { matchersOf } from "@tocsin/core/heart/policy/policyWarnings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { attention } from "./Finding.ts"

const SILENCES = { list: "silences", filter: {}, sort: "created_at", direction: "desc" } as const

/** Matchers of the policy and of silences that match no late check any more. */
export const examineMatchers = Effect.gen(function* () {
  const [commits, storage, now] = [yield* Commits, yield* Storage, yield* Instant.now]
  const policy = (yield* PolicyInForce).current()
  const placed: Array<PlacedMatcher> = [...matchersOf(policy.document)]
  yield* eachPage(storage, SILENCES, (silences) => {
    for (const { ends_at, id, matchers } of silences)
      if (ends_at > now) for (const matcher of matchers) placed.push({ matcher, path: [`silence ${id}`] })
    return Effect.void
  })
  const unmatched = yield* findUnmatched(storage, commits, placed)
  return unmatched.map(({ message, path }) =>
    attention("matchers", `correct this matcher: ${fieldPath(path)} ${message}`),
  )
})
