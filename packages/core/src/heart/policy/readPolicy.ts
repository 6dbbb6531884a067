import { Duration, Result, Schema, SchemaParser } from "effect"
import { type FieldProblem, problemsOf, UNKNOWN_FIELD } from "@tocsin/contract/formats/describeIssue"
import { storedNameOf } from "@tocsin/contract/receivers/ReceiverSecrets"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { lackedReceivers } from "./compilePolicy.ts"
import { termsProblems } from "./decideTerms.ts"
import {
  areTooMany,
  isPositive,
  type Matcher,
  MOST_TOGETHER,
  NAMELESS_MESSAGE,
} from "@tocsin/contract/labels/Matcher"
import {
  type Dependency,
  type Freshness,
  PolicyDocument,
  type Route,
  type Window,
} from "@tocsin/contract/policy/PolicyDocument"
import { linesOf, PAGE_NAME_RULE, PageName } from "@tocsin/contract/publicPages/PublicPages"
import { TIME_ZONE_RULE } from "@tocsin/contract/formats/timeZoneName"
import { timeZoneOf } from "@tocsin/contract/formats/zoneClocks"
import { probeProblems } from "@tocsin/contract/watches/probeProblems"
import { placeProblem, USUAL_FAILS, USUAL_FROM } from "@tocsin/contract/watches/places"
import { type PolicyWatch } from "@tocsin/contract/watches/Watches"
import { probeKinds, probesIn } from "@tocsin/contract/watches/WatchProbe"
import { at, problem, problemIf, type Problems } from "./problemsAt.ts"
import { mailProblems, NO_MAIL_SERVER, receiverProblems } from "./receiverProblems.ts"
import { reachedBy, rotaProblems } from "./Rota.ts"
import { namedSecrets } from "./namedSecrets.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import { withZones } from "./policyZones.ts"
import { zoneProblems } from "./Schedule.ts"
import { windowTimeProblems } from "./windowTimes.ts"
import { isCertainBeside, withoutMalformed } from "./withoutMalformed.ts"

/** A check of what the schema of a policy cannot say, by a feature. */
export type PolicyCheck = (policy: PolicyDocument) => Problems

/**
 * Returns a function that decodes a policy and checks what its schema cannot say, with `checks` of features. `others`
 * are receivers that it may name without defining them; `watchProblem` judges the targets of watches, and
 * `hasMailServer` says that receivers may share one of the settings. Reports every problem, not the first.
 */
export const readPolicyBy =
  (checks: ReadonlyArray<PolicyCheck>): ReadPolicy =>
  (value, others, { hasMailServer = false, watchProblem = () => undefined } = {}) => {
    const decoded = decode(value)
    const known = new Set([...receiversIn(value), ...others])
    const find = (policy: PolicyDocument) => [
      ...problemsIn(policy, known, hasMailServer || Object.hasOwn(Object(value), "mail")),
      ...checks.flatMap((check) => check(policy)),
      ...(policy.watches ?? []).flatMap((watch, n) => at(watchProblem(watch) ?? [], "watches", n)),
    ]
    if (Result.isSuccess(decoded)) {
      const problems = find(decoded.success)
      return problems.length === 0 ? Result.succeed(decoded.success) : Result.fail(problems)
    }
    const malformed = Array.from(problemsOf(decoded.failure), ofName)
    const rest = decode(withoutMalformed(value, malformed))
    const more = Result.isSuccess(rest) ? find(rest.success).filter(isCertainBeside(malformed)) : []
    return Result.fail([...malformed, ...more])
  }

type ReadPolicy = (
  value: unknown,
  others: ReadonlyArray<NotifierName>,
  given?: Pick<RuleOptions, "hasMailServer" | "watchProblem">,
) => Result.Result<PolicyDocument, ReadonlyArray<FieldProblem>>

/**
 * The parts of a document of which no problem is known, so that their warnings, and the secrets of receivers, can be
 * reported with the problems of the others.
 */
export const soundParts = (value: unknown, read: ReturnType<ReadPolicy>): PolicyDocument =>
  Result.getOrElse(read, (problems) =>
    Result.getOrElse(decode(withoutMalformed(value, problems)), (): PolicyDocument => ({})),
  )

/**
 * A stored policy that an earlier version took, despite its problems by the rules of this one. Decisions do without
 * {@link LATER_RULES}, a malformed watch is left out, and receivers that this process lacks are unavailable. Any
 * other problem may be of a later version's policy.
 */
export const followedDespite = (
  value: unknown,
  others: ReadonlyArray<NotifierName>,
  problems: Problems,
  readPolicy: ReadPolicy,
): PolicyDocument | undefined => {
  if (problems.some(({ message }) => message === UNKNOWN_FIELD)) return undefined
  const places = new Set(problems.flatMap(({ path: [list, place] }) => (list === "watches" ? [place] : [])))
  const { watches } = Object(value)
  const kept = Array.isArray(watches)
    ? { ...Object(value), watches: watches.filter((_, n) => !places.has(n)) }
    : value
  const lacked = Result.match(decode(kept), {
    onSuccess: (document) => lackedReceivers(document, others),
    onFailure: () => [],
  })
  // A malformed watch may have hidden problems of other parts.
  const read = readPolicy(kept, [...others, ...lacked])
  if (Result.isSuccess(read)) return read.success
  const isBearable = ({ message, path }: FieldProblem): boolean =>
    LATER_RULES.has(message) ||
    (message === TIME_ZONE_RULE &&
      timeZoneOf(path.reduce((part, name) => Object(part)[name], kept)) !== undefined)
  return read.failure.every(isBearable) ? Result.getOrUndefined(decode(kept)) : undefined
}

/** The names of receivers that a document defines, well-formed or not. */
const receiversIn = (value: unknown): ReadonlyArray<string> => {
  const { receivers } = Object(value)
  return typeof receivers === "object" && receivers !== null ? Object.keys(receivers) : []
}

/** Faults of a policy that its schema cannot express. */
const problemsIn = (
  written: PolicyDocument,
  known: ReadonlySet<string>,
  hasMailServer: boolean,
): Problems => {
  const policy = withZones(written)
  const { dependencies = [], freshness = [], receivers = {}, watches = [] } = policy
  const { pages = {}, routes = [], runbooks = [], windows = [] } = policy
  const lines = Object.values(pages).flatMap((page) => linesOf(page).map(({ line }) => line))
  const both = dependencies.map(({ child, parent }) => ({ match: [...parent, ...child] }))
  const nameable = new Set([...known, ...Object.keys(policy.rotas ?? {})])
  const isFirst = firstOfName(windows)
  const isFirstWatch = firstOfName(watches)
  return [
    ...(policy.tz === undefined ? [] : zoneProblems(policy.tz)),
    ...Object.entries({ routes, windows, freshness, runbooks, dependencies: both, pages: lines }).flatMap(
      ([list, rules]) => problemIf(areTooMany(rules.map(({ match = [] }) => match)), TOGETHER_RULE, list),
    ),
    ...Object.entries(receivers).flatMap(([name, receiver]) =>
      at(receiverProblems(name, receiver, hasMailServer), "receivers", name),
    ),
    ...(policy.mail === undefined ? [] : at(mailProblems(policy.mail), "mail")),
    ...sharedSecrets(policy),
    ...rotaProblems(policy, known, unknownTo(known)),
    ...routes.flatMap((route, n) =>
      at([...routeProblems(route, nameable), ...remindProblems(route, policy)], "routes", n),
    ),
    ...windows.flatMap((window, n) => at(windowProblems(window, isFirst(window, n)), "windows", n)),
    ...dependencies.flatMap((rule, n) => at(dependencyProblems(rule), "dependencies", n)),
    ...freshness.flatMap((rule, n) => at(freshnessProblems(rule), "freshness", n)),
    ...watches.flatMap((watch, n) => at(watchProblems(watch, isFirstWatch(watch, n)), "watches", n)),
  ]
}

/** A row has the secrets of one receiver. */
const sharedSecrets = (policy: PolicyDocument): Problems => {
  const last = namedSecrets(policy)
  return Object.entries(policy.receivers ?? {}).flatMap(([name, receiver]) => {
    const by = last.get(storedNameOf(receiver) ?? "") ?? name
    return problemIf(by !== name, `names the secrets of ${by}: store others`, "receivers", name, "secrets")
  })
}

const firstOfName = (rows: ReadonlyArray<{ readonly name: string }>) => {
  const firsts = new Map(rows.map(({ name }, n) => [name, n] as const).toReversed())
  return ({ name }: { readonly name: string }, n: number): boolean => firsts.get(name) === n
}

const watchProblems = (watch: PolicyWatch, isFirst: boolean): Problems => [
  ...problemIf(!isFirst, "is the name of another watch too", "name"),
  ...problemIf(probesIn(watch).length !== 1, `must have exactly one probe: ${probeKinds.join(", ")}`),
  ...probeProblems(watch),
  ...[placeProblem({ fails: USUAL_FAILS, from: USUAL_FROM, ...watch }) ?? []].flat(),
]

const decode = SchemaParser.decodeUnknownResult(PolicyDocument, { errors: "all", onExcessProperty: "error" })

const isNotifierName = Schema.is(NotifierName)
const isPageName = Schema.is(PageName)
const NAMED = ["receivers", "rotas"]

/** A record refuses a key without the form that it must have. */
const ofName = (found: FieldProblem): FieldProblem => {
  const { path } = found
  const [list, name] = path
  if (path.length !== 2) return found
  if (list === "pages" && !isPageName(name)) return { path, message: `must have a name of ${PAGE_NAME_RULE}` }
  const isName = NAMED.some((named) => named === list) && !isNotifierName(name)
  const message = "must have a name of 1 to 64 lower-case letters, digits or _, beginning with a letter"
  return isName ? { path, message } : found
}

/** More names would not help, and each problem repeats them. */
const MOST_LISTED = 20

/** Completes a message about a name that no receiver has. */
export const listedReceivers = (known: ReadonlySet<string>): string => {
  if (known.size === 0) return "there is none"
  const names = Array.from(known).slice(0, MOST_LISTED).toSorted().join(", ")
  return `the receivers are ${names}${known.size > MOST_LISTED ? ", …" : ""}`
}

const unknownTo =
  (known: ReadonlySet<string>) =>
  (...path: ReadonlyArray<PropertyKey>): FieldProblem =>
    problem(`${NO_RECEIVER}; ${listedReceivers(known)}`, ...path)

const NO_RECEIVER = "names no receiver"

/** Whether a policy names a receiver that this process lacks. Another one may have it. */
export const isOfLacked = ({ message }: Pick<FieldProblem, "message">): boolean =>
  message.startsWith(NO_RECEIVER)

const unknownReceivers = (
  names: ReadonlyArray<NotifierName>,
  known: ReadonlySet<string>,
  ...path: ReadonlyArray<PropertyKey>
): Problems => names.flatMap((name, n) => (known.has(name) ? [] : [unknownTo(known)(...path, n)]))

const routeProblems = ({ steps, to }: Route, known: ReadonlySet<string>): Problems => {
  const problems = [...unknownReceivers(to ?? [], known, "to")]
  if (to !== undefined && steps !== undefined) problems.push(problem("must have to or steps, not both"))
  let latest = Duration.zero
  for (const [n, { after, to: receivers }] of (steps ?? []).entries()) {
    problems.push(...unknownReceivers(receivers, known, "steps", n, "to"))
    if (n === 0) {
      if (after !== undefined)
        problems.push(
          problem("must be absent: the first step follows the route's after", "steps", n, "after"),
        )
      continue
    }
    if (after === undefined) problems.push(problem("is missing", "steps", n, "after"))
    else if (!Duration.isGreaterThan(after, latest)) {
      problems.push(problem("must be longer than that of the step before", "steps", n, "after"))
    } else latest = after
  }
  return problems
}

const OFTEN = Duration.minutes(15)
const OFTEN_RULE = "must be at least 15m, unless all receivers that the route names are of type call"

/** A phone that one missed rings again soon; other receivers keep their messages. */
const remindProblems = (
  { remind, steps, to }: Route,
  { receivers = {}, rotas }: PolicyDocument,
): Problems => {
  if (remind === undefined || !Duration.isLessThan(remind, OFTEN)) return []
  const named = reachedBy(steps?.flatMap((step) => step.to) ?? to ?? [], rotas).filter(
    (name) => rotas?.[name] === undefined,
  )
  const isCall = (name: NotifierName): boolean => {
    const receiver = receivers[name]
    return receiver?.kind === "messenger" && receiver.type === "call"
  }
  return problemIf(named.length === 0 || !named.every(isCall), OFTEN_RULE, "remind")
}

const TOGETHER_RULE = `must have at most ${MOST_TOGETHER.matchers} matchers together, ${MOST_TOGETHER.globs} of them globs`

const matchProblems = (match: ReadonlyArray<Matcher>): Problems =>
  problemIf(!match.some(isPositive), NAMELESS_MESSAGE, "match")

const windowProblems = (window: Window, isFirst: boolean): Problems => [
  ...problemIf(!isFirst, "is the name of another window too", "name"),
  ...problemIf(window.tz === undefined, "is missing", "tz"),
  ...windowTimeProblems(window),
  ...matchProblems(window.match),
]

const PARENT_RULE =
  "must have a matcher with = and a value on a field other than severity, unless equal names such a field"

const dependencyProblems = ({ equal = [], parent }: Dependency): Problems => {
  const isNamed = parent.some((one) => one.op === "=" && isPositive(one))
  return problemIf(!isNamed && equal.every((field) => field === "severity"), PARENT_RULE, "parent")
}

const freshnessProblems = (rule: Freshness): Problems => [
  ...matchProblems(rule.match),
  ...termsProblems(rule),
]

const GIVEN_RULE = "is the name of a notifier of a module or a program: give the receiver another"

/** Receivers that a document defines under names that are given already, whatever it defines. */
export const definedTwice = (value: unknown, lasting: ReadonlyArray<NotifierName>): Problems =>
  receiversIn(value)
    .filter((name) => lasting.includes(name))
    .map((name) => problem(GIVEN_RULE, "receivers", name))

/** Rules of people's intent, which decisions do without. A rule that a later version adds belongs here if it can. */
const LATER_RULES: ReadonlySet<string> = new Set([
  NAMELESS_MESSAGE,
  PARENT_RULE,
  TOGETHER_RULE,
  // The settings may have lost their mail server.
  NO_MAIL_SERVER,
])
