/// <reference lib="es2024.string" />
import { Duration, Predicate, Result } from "effect"
import { EXIT_CODES } from "@tocsin/contract/checks/exitCodes"
import type { CheckId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type IntegrationOptions, isSeverityOfLabel } from "@tocsin/contract/integrations/Integrations"
import type { Labels } from "@tocsin/contract/labels/Labels"
import { firstOutput } from "@tocsin/contract/formats/outputText"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { durationOf, watchdogExpects } from "./sources.ts"
import { deriveCheck, type DerivedCheck, plainText, type Texts } from "./deriveCheck.ts"
import {
  checkIdOf,
  declare,
  type Expects,
  invalid,
  type Reading,
  type Refusal,
  type Report,
  type TranslationContext,
} from "./Report.ts"

interface Alert {
  readonly known: DerivedCheck
  readonly summary: string
  readonly description: string
  readonly starts_at: Instant.Instant | undefined
  /** Absent if it states none, which the year 1 also means. */
  readonly ends_at: Instant.Instant | undefined
  /** Where the alert comes from; empty if it states no address. */
  readonly source: string
  /** Its page there, for people. */
  readonly address: string | undefined
  /** Its own word on whether it fires, if it has one. */
  readonly status: unknown
}

/** An annotation; empty if there is none, or one that is no text. */
const annotation = (annotations: unknown, name: string): string => {
  const text = Predicate.isObject(annotations) ? annotations[name] : undefined
  return typeof text === "string" ? text : ""
}

const YEAR_ONE = /^0001-/

const OFFSET = /([+-])(\d\d):(\d\d)$/u

/** A time as senders write it: RFC 3339 with any offset. */
const instantOf = (text: unknown): Instant.Instant | "absent" | undefined => {
  if (text === undefined || text === null || text === "") return "absent"
  if (typeof text !== "string") return undefined
  if (YEAR_ONE.test(text)) return "absent"
  const [offset, sign, hours, minutes] = OFFSET.exec(text) ?? []
  if (offset === undefined) return Instant.parse(text)
  const local = Instant.parse(`${text.slice(0, -offset.length)}Z`)
  const ahead = Duration.minutes(Number(`${sign}${Number(hours) * 60 + Number(minutes)}`))
  return local && Instant.minus(local, ahead)
}

const ADDRESS = /^(https?):\/\/(?:[^/?#@\s]*@)?([^/?#@\s]+)([^?#\s]*)/iu
const PREFIX = /^(.*?)\/(?:graph|alerting|explore)(?:\/|$)/u
const LONGEST_SOURCE = 256

/** The origin and path prefix of the server that sends an alert, without a user. */
const readSource = (generatorURL: string): string => {
  const [, scheme, host, path = ""] = ADDRESS.exec(generatorURL) ?? []
  if (scheme === undefined || host === undefined) return ""
  const source = plainText(`${scheme}://${host}`.toLowerCase() + (PREFIX.exec(path)?.[1] ?? ""))
  return source.length > LONGEST_SOURCE ? "" : source
}

/** Without a user or password, and no part of which another program reads as one. */
const PAGE = /^https?:\/\/[^\s\p{C}\\/?#@]+(?:[/?#][^\s\p{C}\\]*)?$/iu
const LONGEST_PAGE = 1_000

const readPage = (generatorURL: string): string | undefined =>
  generatorURL.length <= LONGEST_PAGE && PAGE.test(generatorURL) ? generatorURL : undefined

/** Keeps the last result of a function: the alerts of one request have much in common. */
const rememberingLast = <A, B>(make: (given: A) => B, first: NoInfer<A>): ((given: A) => B) => {
  let [last, made] = [first, make(first)]
  return (given) => {
    if (given !== last) [last, made] = [given, make(given)]
    return made
  }
}

/** The readers for alerts of one request. */
const readersOf = (context: TranslationContext) => ({
  startOf: rememberingLast(instantOf, undefined),
  endOf: rememberingLast(instantOf, undefined),
  leaseOf: rememberingLast((ends_at: Instant.Instant | undefined) => leaseOf(ends_at, context), undefined),
  sourceOf: rememberingLast((given: unknown) => {
    const generatorURL = typeof given === "string" ? given : ""
    return { source: readSource(generatorURL), address: readPage(generatorURL) }
  }, ""),
})

type Readers = ReturnType<typeof readersOf>

const readAlert = (
  given: unknown,
  place: number,
  { endOf, sourceOf, startOf }: Readers,
  context: TranslationContext,
): Alert | Refusal => {
  if (!Predicate.isObject(given)) return invalid(`alert ${place} must be an object`)
  const { annotations, generatorURL, labels, status } = given
  const known = Predicate.isObject(labels)
    ? deriveCheck(labels, annotation(annotations, "runbook_url"), context)
    : "no_texts"
  if (known === "no_texts") return invalid(`alert ${place} must have labels with texts as values`)
  if (known === "no_label") return invalid(`alert ${place} must have a label`)
  const [starts_at, ends_at] = [startOf(given["startsAt"]), endOf(given["endsAt"])]
  if (starts_at === undefined || ends_at === undefined) {
    const name = starts_at === undefined ? "startsAt" : "endsAt"
    return invalid(`alert ${place} must have a time such as 2026-03-01T08:30:00Z as ${name}`)
  }
  return {
    known,
    summary: annotation(annotations, "summary"),
    description: annotation(annotations, "description"),
    starts_at: starts_at === "absent" ? undefined : starts_at,
    ends_at: ends_at === "absent" ? undefined : ends_at,
    ...sourceOf(generatorURL),
    status,
  }
}

const USUAL = {
  critical: ["critical", "page", "error"],
  warning: ["warning"],
  ignore: ["info", "none", "ok", "okay"],
}

const isAmong = (value: string, words: ReadonlyArray<string>): boolean =>
  words.some((word) => word.toLowerCase() === value.toLowerCase())

/** The usual severity that a word means, in any case; `undefined` for another word. */
export const severityOf = (word = ""): keyof typeof USUAL | undefined =>
  (["critical", "warning", "ignore"] as const).find((severity) => isAmong(word, USUAL[severity]))

/** The status of an alert that fires; `undefined` if it is ignored. */
const firingStatus = (
  labels: Texts,
  { severity: chosen = {} }: IntegrationOptions,
): "critical" | "warning" | undefined => {
  const {
    critical = USUAL.critical,
    ignore = USUAL.ignore,
    label = "severity",
    warning = USUAL.warning,
  } = isSeverityOfLabel(chosen) ? chosen : {}
  const value = labels[label] ?? ""
  if (isAmong(value, critical)) return "critical"
  if (isAmong(value, warning)) return "warning"
  return isAmong(value, ignore) ? undefined : "critical"
}

const LONGEST_KEY = 256

const groupKey = (
  labels: Texts,
  { name, options: { group_by = [] }, sha256 }: TranslationContext,
): IncidentKey | undefined => {
  if (group_by.length === 0) return undefined
  const pairs = group_by.map((label) => `${label}=${JSON.stringify(labels[label] ?? "")}`)
  const text = `${name}{${plainText(pairs.join(", "))}}`
  // Plain text of a bounded length is a key.
  return (Array.from(text).length <= LONGEST_KEY ? text : `${name}{sha256:${sha256(text)}}`) as IncidentKey
}

/** The times that its sender states; the end of an alert that fires is a lease. */
const timesOf = ({ ends_at, starts_at }: Alert, isFiring: boolean): string => {
  const started = starts_at === undefined ? "" : `started ${Instant.momentText(starts_at)}`
  if (isFiring || ends_at === undefined) return started
  return `${started === "" ? "" : `${started}, `}ended ${Instant.momentText(ends_at)}`
}

const outputOf = (alert: Alert, isFiring: boolean): string => {
  const { description, known, summary } = alert
  const labels = () =>
    Object.entries(known.texts)
      .map(([name, value]) => `${name}=${value}`)
      .join(", ")
  const text = summary === "" && description === "" ? labels() : ""
  return [summary, description, text, timesOf(alert, isFiring)].filter((line) => line !== "").join("\n")
}

/** A result without a run, with its exit code, and the beginning of its text. */
export const resultOf = (
  check_id: CheckId,
  status: CheckStatus,
  text: string,
  expects: Expects,
  labels?: Labels,
): Report => ({
  signal: "result",
  check_id,
  rid: "",
  expects,
  status,
  exit_code: EXIT_CODES[status],
  duration_ms: 0,
  isOfKnownCheck: status === "ok",
  ...firstOutput(text),
  ...(labels !== undefined && { labels }),
})

/** Leases are rounded up to this, so that what senders repeat is equal. */
const LEASE_STEP = 15_000
const MICROS_PER_MILLI = 1_000

/** An alert that ends later is expected again by then. */
const MOST_LEASE = Duration.days(31)

const leaseOf = (ends_at: Instant.Instant | undefined, { now, options }: TranslationContext): number => {
  if (ends_at === undefined || ends_at <= now) return Duration.toMillis(durationOf(options, "resend"))
  const millis = Number(Instant.min(ends_at, Instant.plus(now, MOST_LEASE)) - now) / MICROS_PER_MILLI
  return Math.ceil(millis / LEASE_STEP) * LEASE_STEP
}

export interface AlertRules {
  readonly isFiring: (alert: Alert, now: Instant.Instant) => boolean
  readonly repeats: boolean
}

const reportOf = (
  alert: Alert,
  context: TranslationContext,
  rules: AlertRules,
  readers: Readers,
): Report | undefined => {
  const { now, options, sha256 } = context
  const { address, known, source } = alert
  const isFiring = rules.isFiring(alert, now)
  const text = outputOf(alert, isFiring)
  if (options.watchdog !== undefined && known.texts["alertname"] === options.watchdog) {
    const status = isFiring ? "ok" : "critical"
    const check_id = checkIdOf(options.watchdog, sha256)
    return {
      ...resultOf(check_id, status, text, watchdogExpects(options), known.labels),
      isOfKnownCheck: false,
    }
  }
  const lease_millis = isFiring && rules.repeats ? readers.leaseOf(alert.ends_at) : undefined
  const firing = firingStatus(known.texts, options)
  if (firing === undefined) return undefined
  const expects: Expects = { by: "source", source, lease_millis, address }
  const incident_key = groupKey(known.texts, context)
  return {
    ...resultOf(known.check_id, isFiring ? firing : "ok", text, expects, known.labels),
    ...(incident_key !== undefined && { incident_key }),
    declaration: declare(known.labels, expects, sha256),
  }
}

const MOST_ALERTS = 10_000

/** The alerts of a request, each on its own: one that cannot be read refuses no other. */
export const readAlerts = (
  given: ReadonlyArray<unknown>,
  context: TranslationContext,
  rules: AlertRules,
): Reading | Refusal => {
  if (given.length > MOST_ALERTS)
    return invalid(`the request body must contain at most ${MOST_ALERTS} alerts`)
  const reports: Array<Report> = []
  const refusals: Array<Refusal> = []
  const heard = new Set<string>()
  const readers = readersOf(context)
  for (const [index, one] of given.entries()) {
    const alert = readAlert(one, index + 1, readers, context)
    if ("refused" in alert) {
      refusals.push(alert)
      continue
    }
    heard.add(alert.source)
    const report = reportOf(alert, context, rules, readers)
    if (report !== undefined) reports.push(report)
  }
  return { reports, refusals, heard: Array.from(heard) }
}

export const ALERT_OPTIONS = ["severity", "group_by", "forget_after", "lapse_after"] as const

/** The JSON of a body; a refusal if it is none. */
export const readJsonBody = (body: string): { readonly json: unknown } | Refusal =>
  Result.match(
    Result.try(() => JSON.parse(body) as unknown),
    {
      onSuccess: (json): { readonly json: unknown } | Refusal => ({ json }),
      onFailure: () => invalid("the request body must be valid JSON"),
    },
  )
