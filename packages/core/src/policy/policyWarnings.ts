import { isPositive, type Matcher } from "@tocsin/contract/Matcher"
import { formatMatcher } from "@tocsin/contract/matcherText"
import type { Dependency, Freshness, PolicyDocument } from "@tocsin/contract/PolicyDocument"
import { linesOf } from "@tocsin/contract/PublicPages"
import type { Receiver } from "@tocsin/contract/Receiver"
import { scheduleWarnings } from "@tocsin/contract/scheduleWarnings"
import { MAIL_SENDER } from "@tocsin/contract/ReceiverTypes"
import { callWarnings } from "./callWarnings.ts"
import { at, problemIf, type Problems } from "./problemsAt.ts"
import { rotaWarnings } from "./rotaWarnings.ts"

/** In quotes, also the typographic ones of word processors and chats. */
const QUOTED = /^(?:(["'`]).*\1|[“”„‟‘’‚‛«»‹›].*[“”„‟‘’‚‛«»‹›])$/su

/** A warning about a matcher whose value has quotes around it, as other programs write them. */
export const quotesWarning = (matcher: Matcher): string | undefined =>
  QUOTED.test(matcher.value)
    ? `compares with quotes as a part of the value (${formatMatcher(matcher)}); leave them out`
    : undefined

const FOREIGN =
  "has characters before the @ that only a mail server with SMTPUTF8 takes; write an address of ASCII there unless yours does"

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

/** Parts of a policy that are valid, and that few people mean. */
export const policyWarnings = (policy: PolicyDocument): Problems => {
  const { receivers = {} } = policy
  return [
    ...Object.entries(receivers).flatMap(([name, receiver]) =>
      at(addressWarnings(receiver), "receivers", name),
    ),
    ...callWarnings(policy),
    ...rulesIn(policy).flatMap(({ place, rule }) => at(ruleWarnings(rule), ...place)),
    ...rotaWarnings(policy),
    ...timeWarnings(policy),
  ]
}

const isForeign = (address: string): boolean =>
  /[\u0080-\u{10ffff}]/u.test(address.slice(0, address.lastIndexOf("@")))

const addressWarnings = (receiver: Receiver): Problems => {
  if (receiver.kind !== "messenger") return []
  const { cc = [], from = "", to = [] } = receiver
  const recipients = typeof to === "string" ? [] : to
  return [
    ...problemIf(isForeign(MAIL_SENDER.exec(from)?.groups?.["inner"] ?? from), FOREIGN, "from"),
    ...recipients.flatMap((one, n) => problemIf(isForeign(one), FOREIGN, "to", n)),
    ...cc.flatMap((one, n) => problemIf(isForeign(one), FOREIGN, "cc", n)),
  ]
}

const isEmpty = ({ op, value }: Matcher): boolean => op === "=" && value.trim() === ""

type Rule = Partial<Pick<Dependency, "child" | "parent"> & Pick<Freshness, "match">>

const matchersIn = (rule: Rule) =>
  (["match", "parent", "child"] as const).flatMap((field) =>
    (rule[field] ?? []).map((matcher, index) => ({ matcher, path: [field, index] })),
  )

/** Warnings of all schedules and time zones in a part of a policy. */
const timeWarnings = (part: unknown): Problems => {
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
