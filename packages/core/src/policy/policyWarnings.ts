import { parseCron } from "@tocsin/contract/CronTimes"
import type { FieldProblem } from "@tocsin/contract/describeIssue"
import type { Matcher } from "@tocsin/contract/Matcher"
import { formatMatcher } from "@tocsin/contract/matcherText"
import type { Dependency, Freshness, PolicyDocument } from "@tocsin/contract/PolicyDocument"

/** In quotes, also the typographic ones of word processors and chats. */
const QUOTED = /^(?:(["'`]).*\1|[“”„‟‘’‚‛«»‹›].*[“”„‟‘’‚‛«»‹›])$/su

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
  const lists = { routes, dependencies, windows, freshness, runbooks }
  return Object.entries(lists).flatMap(([list, rules]) =>
    rules.flatMap((rule, n) => ruleWarnings(rule, [list, n])),
  )
}

type Rule = Partial<Pick<Dependency, "child" | "parent"> & Pick<Freshness, "cron" | "match">>

const ruleWarnings = ({ cron, ...matched }: Rule, at: FieldProblem["path"]): ReadonlyArray<FieldProblem> => {
  const times = cron === undefined ? undefined : parseCron(cron)
  const isEither = times !== undefined && "needsBoth" in times && !times.needsBoth
  const quoted = (["match", "parent", "child"] as const).flatMap((field) =>
    (matched[field] ?? []).flatMap((matcher, index) => {
      const message = quotesWarning(matcher)
      return message === undefined ? [] : [{ message, path: [...at, field, index] }]
    }),
  )
  return isEither ? [...quoted, { message: EITHER, path: [...at, "cron"] }] : quoted
}
