import { parseCron } from "@tocsin/contract/CronTimes"
import type { FieldProblem } from "@tocsin/contract/describeIssue"
import type { Matcher } from "@tocsin/contract/Matcher"
import { formatMatcher } from "@tocsin/contract/matcherText"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"

const QUOTED = /^(["']).*\1$/su

/** A warning about a matcher whose value has quotes around it, as other programs write them. */
export const quotesWarning = (matcher: Matcher): string | undefined =>
  QUOTED.test(matcher.value)
    ? `compares with quotes as a part of the value (${formatMatcher(matcher)}); leave them out`
    : undefined

const EITHER =
  "names a day of the month and a weekday, and so fires on each of both: on the day or the weekday; write * for one of them unless that is meant"

/** Parts of a policy that are valid, and that few people mean. */
export const policyWarnings = (policy: PolicyDocument): ReadonlyArray<FieldProblem> => {
  const { dependencies = [], freshness = [], routes = [], runbooks = [], windows = [] } = policy
  const ofMatch = Object.entries({ routes, windows, freshness, runbooks }).flatMap(([list, rules]) =>
    rules.flatMap(({ match = [] }, n) => match.map((one, at) => ({ one, path: [list, n, "match", at] }))),
  )
  const ofDependencies = dependencies.flatMap((rule, n) =>
    (["parent", "child"] as const).flatMap((side) =>
      rule[side].map((one, at) => ({ one, path: ["dependencies", n, side, at] })),
    ),
  )
  const quoted = [...ofMatch, ...ofDependencies].flatMap(({ one, path }) => {
    const message = quotesWarning(one)
    return message === undefined ? [] : [{ message, path }]
  })
  const either = Object.entries({ windows, freshness }).flatMap(([list, rules]) =>
    rules.flatMap(({ cron }, n) => {
      const times = cron === undefined ? undefined : parseCron(cron)
      const isEither = times !== undefined && "needsBoth" in times && !times.needsBoth
      return isEither ? [{ message: EITHER, path: [list, n, "cron"] }] : []
    }),
  )
  return [...quoted, ...either]
}
