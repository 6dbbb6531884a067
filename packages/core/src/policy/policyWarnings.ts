import { parseCron } from "@tocsin/contract/CronTimes"
import type { FieldProblem } from "@tocsin/contract/describeIssue"
import { isPositive, type Matcher } from "@tocsin/contract/Matcher"
import { formatMatcher } from "@tocsin/contract/matcherText"
import type { Dependency, Freshness, PolicyDocument } from "@tocsin/contract/PolicyDocument"
import type { Receiver } from "@tocsin/contract/Receiver"
import { MAIL_SENDER } from "@tocsin/contract/ReceiverTypes"
import { rotaWarnings } from "./rotaWarnings.ts"

/** In quotes, also the typographic ones of word processors and chats. */
const QUOTED = /^(?:(["'`]).*\1|[“”„‟‘’‚‛«»‹›].*[“”„‟‘’‚‛«»‹›])$/su

/** A warning about a matcher whose value has quotes around it, as other programs write them. */
export const quotesWarning = (matcher: Matcher): string | undefined =>
  QUOTED.test(matcher.value)
    ? `compares with quotes as a part of the value (${formatMatcher(matcher)}); leave them out`
    : undefined

const EITHER =
  "names a day of the month and a weekday, and so fires on each of both: on the day or the weekday; write * for one of them unless that is meant"

const FOREIGN =
  "has characters before the @ that only a mail server with SMTPUTF8 takes; write an address of ASCII there unless yours does"

const NAMELESS = "covers every incident whose field is absent or empty; name a value unless that is meant"

/** Parts of a policy that are valid, and that few people mean. */
export const policyWarnings = (policy: PolicyDocument): ReadonlyArray<FieldProblem> => {
  const {
    dependencies = [],
    freshness = [],
    receivers = {},
    routes = [],
    runbooks = [],
    windows = [],
  } = policy
  const lists = { routes, dependencies, windows, freshness, runbooks }
  return [
    ...Object.entries(receivers).flatMap(([name, receiver]) =>
      addressWarnings(receiver, ["receivers", name]),
    ),
    ...Object.entries(lists).flatMap(([list, rules]) =>
      rules.flatMap((rule, n) => ruleWarnings(rule, [list, n])),
    ),
    ...rotaWarnings(policy),
  ]
}

const isForeign = (address: string): boolean =>
  /[\u0080-\u{10ffff}]/u.test(address.slice(0, address.lastIndexOf("@")))

const addressWarnings = (receiver: Receiver, at: FieldProblem["path"]): ReadonlyArray<FieldProblem> => {
  if (receiver.kind !== "messenger") return []
  const { cc = [], from = "", to = [] } = receiver
  const warning = (...place: FieldProblem["path"]) => ({ message: FOREIGN, path: [...at, ...place] })
  return [
    ...(isForeign(MAIL_SENDER.exec(from)?.groups?.["inner"] ?? from) ? [warning("from")] : []),
    ...(typeof to === "string" ? [] : to).flatMap((one, n) => (isForeign(one) ? [warning("to", n)] : [])),
    ...cc.flatMap((one, n) => (isForeign(one) ? [warning("cc", n)] : [])),
  ]
}

const isEmpty = ({ op, value }: Matcher): boolean => op === "=" && value.trim() === ""

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
  const nameless = (["parent", "child"] as const).flatMap((field) => {
    const matchers = matched[field] ?? []
    const isNameless = matchers.some(isEmpty) && !matchers.some(isPositive)
    return isNameless ? [{ message: NAMELESS, path: [...at, field] }] : []
  })
  const found = [...quoted, ...nameless]
  return isEither ? [...found, { message: EITHER, path: [...at, "cron"] }] : found
}
