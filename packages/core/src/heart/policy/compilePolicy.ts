import { Duration, Result } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { PolicyIssue } from "@tocsin/contract/policy/Policies"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import { compileMatchers, type MatchedFacts, type Matcher } from "@tocsin/contract/labels/Matcher"
import {
  type Freshness,
  type PolicyDocument,
  type Route,
  type Window,
  type FoundRunbook,
  RUNBOOK_URL,
  type Runbook,
} from "@tocsin/contract/policy/PolicyDocument"
import { completeReceivers } from "@tocsin/contract/receivers/mailServer"
import type { Receiver } from "@tocsin/contract/receivers/Receiver"
import { compileRotas } from "./onCall.ts"
import { namesIn } from "./Rota.ts"
import { compileDependencies } from "./dependencies.ts"
import { compileRoutes, type Naming } from "./routing.ts"
import { type Recurring, compileQuiet, type QuietHours } from "./occurrences.ts"
import { withZones } from "./policyZones.ts"
import { onceAt, parseSchedule } from "./Schedule.ts"
import type { Labels } from "@tocsin/contract/labels/Labels"

export interface PolicyReceiver {
  /** The notifier that outbox items show: the kind, or the name of a custom notifier. */
  readonly kind: NotifierName
  /** As the policy defines it; absent for a notifier of the settings or of the host program. */
  readonly definition: Receiver | undefined
  readonly quiet?: QuietHours | undefined
}

/** Whether resolutions are sent to a receiver, as they are to one that this policy lacks. */
export const hearsResolved = (receiver: PolicyReceiver | undefined): boolean => {
  const definition = receiver?.definition
  if (definition?.kind === "messenger") return definition.resolved ?? definition.type !== "call"
  return definition?.kind === "webhook" ? (definition.resolved ?? true) : true
}

/** A policy as decisions use it, compiled once. */
export type Policy = ReturnType<typeof compilePolicy> & {
  /** The receivers that this process cannot use, each with the reason; absent if it can use all. */
  readonly unavailable?: ReadonlyMap<NotifierName, string>
  /** The receivers that no live server can use, each with the time from which another one of a rota stands beside it. */
  readonly unusable?: ReadonlyMap<NotifierName, Instant.Instant>
  /** The marks of the stored secrets that it names; absent where it names none. */
  readonly secretMarks?: ReadonlyMap<NotifierName, string>
  /** The marks of the browsers of its receivers; absent where none is one. */
  readonly browserMarks?: ReadonlyMap<NotifierName, string>
  /** Its number, where it is stored. */
  readonly version?: number
  /** How it breaks rules of this version without harm, where it is stored. */
  readonly outdated?: ReadonlyArray<PolicyIssue>
}

/** Notifiers outside a policy, of the settings or of the host program, and the targets that its watches may have. */
export type PolicyNotifiers = Pick<
  RuleOptions,
  "extensions" | "hasMailServer" | "notifiers" | "notifierKinds" | "keepsNotifiers" | "watchProblem"
> & {
  /** Receivers that modules or programs of other live servers give (docs/rules.md#extensions). */
  readonly elsewhere?: ReadonlyArray<NotifierName> | undefined
}

/** The receivers that are there whatever a policy defines; it must not define them. */
export const lastingReceivers = ({
  elsewhere = [],
  extensions = [],
  keepsNotifiers,
  notifiers,
}: PolicyNotifiers): ReadonlyArray<NotifierName> => [
  ...(keepsNotifiers ? notifiers : []),
  ...extensions,
  ...elsewhere,
]

/** The receivers that a policy may name without defining them; it need not be valid. */
export const receiversGiven = (
  document: { readonly receivers?: unknown },
  given: PolicyNotifiers,
): ReadonlyArray<NotifierName> =>
  Array.from(
    new Set([...(document.receivers === undefined ? given.notifiers : []), ...lastingReceivers(given)]),
  )

/** The receivers that a valid policy names, and neither it nor any of `known` is. */
export const lackedReceivers = (
  { receivers = {}, rotas = {}, routes = [] }: PolicyDocument,
  known: ReadonlyArray<NotifierName>,
): ReadonlyArray<NotifierName> => {
  const others = new Set([...known, ...Object.keys(receivers), ...Object.keys(rotas)])
  const named = [
    ...routes.flatMap(({ steps = [], to = [] }) => [...to, ...steps.flatMap((step) => step.to)]),
    ...Object.values(rotas).flatMap(namesIn),
  ]
  return Array.from(new Set(named)).filter((name) => !others.has(name))
}

export const LACKED = "neither a module nor a setting of this server gives it"

/**
 * Compiles a valid policy beside the notifiers outside it. Receivers that only other servers give, and those that a
 * stored policy names and no server gives, are unavailable.
 */
export const compileGiven = (document: PolicyDocument, given: PolicyNotifiers): Policy => {
  const here = receiversGiven(document, { ...given, elsewhere: [] })
  const all = receiversGiven(document, given)
  const lacked = [
    ...lackedReceivers(document, all),
    ...all.filter((name) => !here.includes(name) && !Object.hasOwn(document.receivers ?? {}, name)),
  ]
  const compiled = compilePolicy(document, [...here, ...lacked], given.notifierKinds)
  return withUnavailable(compiled, new Map(lacked.map((name) => [name, LACKED])))
}

/** A policy of which this process cannot use some receivers more. */
export const withUnavailable = (policy: Policy, more: ReadonlyMap<NotifierName, string>): Policy =>
  more.size === 0 ? policy : { ...policy, unavailable: new Map([...(policy.unavailable ?? []), ...more]) }

/** Compiles a valid policy. `notifiers` are the receivers that it may name without defining them. */
export const compilePolicy = (
  document: PolicyDocument,
  notifiers: ReadonlyArray<NotifierName>,
  kinds: PolicyNotifiers["notifierKinds"] = {},
) => {
  const zoned = withZones(document)
  const { dependencies = [], freshness = [] } = zoned
  const { routes = [], runbooks = [], tz = "UTC", windows = [] } = zoned
  const kindOf = new Map(Object.entries(kinds))
  const receivers: ReadonlyMap<NotifierName, PolicyReceiver> = new Map<NotifierName, PolicyReceiver>([
    ...notifiers.map((name) => [name, { kind: kindOf.get(name) ?? name, definition: undefined }] as const),
    ...Object.entries(completeReceivers(zoned)).map(
      ([name, definition]) => [name, receiverOf(definition)] as const,
    ),
  ])
  const rotas = compileRotas(zoned.rotas, receivers)
  const hasLaterSteps = routes.some(({ steps = [] }) => steps.length > 1)
  const compiled = compileRoutes(routes, everyReceiver(document, receivers.keys()))
  const named = compiled.name(new Set(["unmatched"]), () => 0)
  /** Whom a member names that no route matches. */
  const everyone: Naming = { named, at: () => named, isCut: false }
  return {
    document,
    receivers,
    /** The time zone of what has none. */
    tz,
    /** Whom a receiver's messages reach; one that the policy does not have any more, by the policy alone. */
    readerOf: (receiver: NotifierName | undefined) => {
      const known = receiver === undefined ? undefined : receivers.get(receiver)
      const definition = known?.definition
      const ofMessenger = definition?.kind === "messenger" ? definition.lang : undefined
      return { tz: definition?.tz ?? tz, lang: known === undefined ? document.lang : ofMessenger }
    },
    rotas,
    /** Without routes and rotas, every receiver is notified immediately, whatever the incident. */
    hasRoutes: routes.length > 0 || rotas !== undefined,
    /** Whether a route compares hostnames or labels, which agents change. */
    routesReadAgents: routes.some(({ match }) => match?.some(isOfAgent)),
    /** Whether a window or a dependency does. */
    holdsReadAgents:
      windows.some(({ match }) => match.some(isOfAgent)) ||
      dependencies.some(
        ({ child, equal = [], parent }) =>
          [...child, ...parent].some(isOfAgent) || equal.some((field) => isOfAgent({ field })),
      ),
    /** Whether a route has a later step or reminds, or others come on call. Else only acknowledgements run out. */
    hasTimers: rotas !== undefined || hasLaterSteps || routes.some(({ remind }) => remind !== undefined),
    hasLaterSteps,
    routesBySeverity: routes.some(({ match }) => match?.some(({ field }) => field === "severity")),
    /** How long a milder severity is announced until a worse one is forgotten. */
    againAfter: document.again_after ?? AGAIN_AFTER,
    flapping: flappingOf(routes),
    routes: compiled,
    everyone,
    dependencies: dependencies.length === 0 ? undefined : compileDependencies(dependencies),
    windows: windows.map(compileWindow),
    freshness: compileFreshness(freshness),
    runbookOf: compileRunbooks(runbooks),
  }
}

const AGAIN_AFTER = Duration.minutes(10)

/** The rotas and receivers that are every receiver: none that another rota names. */
const everyReceiver = (
  { rotas = {} }: Pick<PolicyDocument, "rotas">,
  receivers: Iterable<NotifierName>,
): ReadonlyArray<NotifierName> => {
  const named = new Set(Object.values(rotas).flatMap(namesIn))
  return [...receivers, ...Object.keys(rotas)].filter((name) => !named.has(name))
}

/** Whether it compares what agents report about themselves, which changes unnoticed. */
export const isOfAgent = ({ field }: Pick<Matcher, "field">): boolean =>
  field === "hostname" || field.startsWith("label:")

const compileFreshness = (rules: ReadonlyArray<Freshness>) => {
  const compiled = rules.map((rule) => ({ rule, matches: compileMatchers(rule.match) }))
  return {
    count: rules.length,
    readsAgents: rules.some(({ match }) => match.some(isOfAgent)),
    /** The first rule of the document that matches a check. */
    ruleOf: (facts: Partial<MatchedFacts>) => compiled.find(({ matches }) => matches(facts))?.rule,
  }
}

/** The most of all routes that count the openings of a key, and how long that may decide about an incident. */
const flappingOf = (routes: ReadonlyArray<Route>) => {
  const [first, ...others] = routes.flatMap(({ after = Duration.zero, flapping }) =>
    flapping === undefined ? [] : { ...flapping, after: Duration.max(after, flapping.after) },
  )
  let most = first
  for (const { after, openings, within } of others)
    most = most && {
      after: Duration.max(most.after, after),
      within: Duration.max(most.within, within),
      openings: Math.max(most.openings, openings),
    }
  return most
}

const receiverOf = (definition: Receiver): PolicyReceiver => ({
  kind: definition.kind,
  definition,
  quiet: definition.quiet && compileQuiet(definition.quiet),
})

// Schedules of a document that was read are valid.
/** Of a window, by its `cron` or by its `at`. */
const scheduleOf = ({ at, cron = "" }: Pick<Window, "at" | "cron">, tz: string) =>
  at === undefined ? Result.getOrThrow(parseSchedule({ cron, tz })) : onceAt(at, tz)

const compileWindow = ({ tz = "UTC", ...window }: Window): Window & Recurring & { readonly tz: string } => ({
  ...window,
  tz,
  schedule: scheduleOf(window, tz),
  endOf: (starts_at) => Instant.plus(starts_at, window.for),
})

/** Finds the runbook of a failing check: that of its label, or of the first rule that matches (docs/rules.md#runbooks). */
const compileRunbooks = (rules: ReadonlyArray<Runbook>) => {
  const compiled = rules.map(({ match, ...runbook }) => ({ runbook, matches: compileMatchers(match) }))
  return (facts: MatchedFacts, ofCheck: Labels | undefined): FoundRunbook | undefined => {
    const url = ofCheck && Object.hasOwn(ofCheck, "runbook_url") ? ofCheck["runbook_url"] : undefined
    // An agent may write any text into a label.
    if (url !== undefined && RUNBOOK_URL.test(url)) return { url }
    return compiled.find(({ matches }) => matches(facts))?.runbook
  }
}

/** How long an incident may count as an opening of its key. Removing it earlier would end a hold. */
export const openingsCountFor = ({ flapping }: Policy): Duration.Duration =>
  flapping === undefined ? Duration.zero : Duration.sum(flapping.within, flapping.after)
