import { isPositive, type Matcher } from "@tocsin/contract/labels/Matcher"
import { formatMatcher } from "@tocsin/contract/labels/matcherText"
import type { Dependency, Freshness, PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { linesOf } from "@tocsin/contract/publicPages/PublicPages"
import { scheduleWarnings } from "@tocsin/contract/overdue/scheduleWarnings"
import { daysProblems } from "@tocsin/contract/watches/probeProblems"
import * as Instant from "@tocsin/contract/formats/Instant"
import { onceAt } from "./Schedule.ts"
import { at, problemIf, type Problems } from "./problemsAt.ts"
import { namesIn } from "./Rota.ts"

/** In quotes, also the typographic ones of word processors and chats. */
const QUOTED = /^(?:(["'`]).*\1|[“”„‟‘’‚‛«»‹›].*[“”„‟‘’‚‛«»‹›])$/su

/** A warning about a matcher whose value has quotes around it, as other programs write them. */
export const quotesWarning = (matcher: Matcher): string | undefined =>
  QUOTED.test(matcher.value)
    ? `compares with quotes as a part of the value (${formatMatcher(matcher)}); leave them out`
    : undefined

const NAMELESS = "covers every incident whose field is absent or empty; name a value unless that is meant"

/** Every rule of a policy that has matchers, and where it is written. */
const rulesIn = ({
  dependencies = [],
  freshness = [],
  pages = {},
  routes = [],
  runbooks = [],
  windows = [],
}: PolicyDocument) => [
  ...Object.entries({ routes, dependencies, windows, freshness, runbooks }).flatMap(([list, rules]) =>
    rules.map((rule: Rule, n) => ({ rule, place: [list, n] })),
  ),
  ...Object.entries(pages).flatMap(([name, page]) =>
    linesOf(page).map(({ line: rule, path }) => ({ rule, place: ["pages", name, ...path] })),
  ),
]

/** Every matcher of a policy, and where it is written. */
export const matchersOf = (policy: PolicyDocument) =>
  rulesIn(policy).flatMap(({ place, rule }) =>
    matchersIn(rule).map(({ matcher, path }) => ({ matcher, path: [...place, ...path] })),
  )

export const matcherWarnings = (policy: PolicyDocument): Problems =>
  rulesIn(policy).flatMap(({ place, rule }) => at(ruleWarnings(rule), ...place))

const SAME =
  "reaches only receivers of the step before: they are paged again, and no others; name others unless that is meant"

/** Later steps that reach the receivers of the step before, and no others (docs/rules.md#steps). */
export const stepWarnings = ({ rotas = {}, routes = [] }: PolicyDocument): Problems =>
  routes.flatMap(({ steps = [] }, n) =>
    steps.flatMap(({ to }, step) => {
      // A rota of one turn has all of its receivers on call.
      const before = (steps[step - 1]?.to ?? []).flatMap((name) => {
        const { order = [], otherwise } = rotas[name] ?? {}
        return order.length === 1 && otherwise === undefined ? [name, ...order.flat()] : [name]
      })
      const isReached = (name: NotifierName): boolean => {
        const rota = rotas[name]
        return before.includes(name) || (rota !== undefined && namesIn(rota).every(isReached))
      }
      return problemIf(step > 0 && to.every(isReached), SAME, "routes", n, "steps", step)
    }),
  )

const UNSTATED =
  "makes late checks unknown, and not critical as a declaration with cron does; write the severity that is meant"

/** Rules of freshness with times, and without a severity (docs/rules.md#late-checks). */
export const severityWarnings = ({ freshness = [] }: PolicyDocument): Problems =>
  freshness.flatMap(({ cron, severity }, n) =>
    problemIf(cron !== undefined && severity === undefined, UNSTATED, "freshness", n),
  )

/** Watches of a certificate whose warning never comes. */
export const daysWarnings = ({ watches = [] }: PolicyDocument): Problems =>
  watches.flatMap((watch, n) => at(daysProblems(watch), "watches", n))

const isEmpty = ({ op, value }: Matcher): boolean => op === "=" && value.trim() === ""

type Rule = Partial<Pick<Dependency, "child" | "parent"> & Pick<Freshness, "match">>

const matchersIn = (rule: Rule) =>
  (["match", "parent", "child"] as const).flatMap((field) =>
    (rule[field] ?? []).map((matcher, index) => ({ matcher, path: [field, index] })),
  )

/** Warnings of all schedules and time zones in a part of a policy. */
export const timeWarnings = (part: unknown): Problems => {
  if (typeof part !== "object" || part === null) return []
  const { cron, tz } = part as Readonly<Record<string, unknown>>
  const own = {
    ...(typeof cron === "string" && { cron }),
    ...(typeof tz === "string" && { tz }),
  }
  return [
    ...scheduleWarnings(own),
    ...Object.entries(part).flatMap(([key, value]) =>
      at(timeWarnings(value), Array.isArray(part) ? Number(key) : key),
    ),
  ]
}

const OVER = "is over, and holds nothing any more: remove the window, or give it another time"

/** Windows that came once, and are over. */
export const overWarnings = ({ tz: zone, windows = [] }: PolicyDocument, now: Instant.Instant): Problems =>
  windows.flatMap(({ at: once, for: length, tz = zone ?? "UTC" }, n) =>
    problemIf(
      once !== undefined && Instant.plus(onceAt(once, tz).once, length) <= now,
      OVER,
      "windows",
      n,
      "at",
    ),
  )

const ruleWarnings = (matched: Rule): Problems => {
  const quoted = matchersIn(matched).flatMap(({ matcher, path }) => {
    const message = quotesWarning(matcher)
    return message === undefined ? [] : [{ message, path }]
  })
  const nameless = (["parent", "child"] as const).flatMap((field) => {
    const matchers = matched[field] ?? []
    return problemIf(matchers.some(isEmpty) && !matchers.some(isPositive), NAMELESS, field)
  })
  return [...quoted, ...nameless]
}
