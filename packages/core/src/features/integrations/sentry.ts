import { Duration, Predicate } from "effect"
import { firstOutput } from "@tocsin/contract/formats/outputText"
import { JSON_TEXT, type Kind } from "./Kind.ts"
import { madeName, readShallowJson, textOf } from "./paging.ts"
import {
  type AnyReport,
  checkIdOfParts,
  type Expects,
  invalid,
  NOT_FOUND,
  NOTHING_EXPECTED,
  type Reading,
  type Refusal,
  type SenderRequest,
  type Translate,
  type TranslationContext,
} from "./Report.ts"
import { FAILED, OK } from "./signals.ts"

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (Predicate.isObject(value) ? value : {})

const UNITS = { minute: 1, hour: 60, day: 1_440, week: 10_080, month: 44_640, year: 527_040 } as const
const isUnit = (unit: string): unit is keyof typeof UNITS => Object.hasOwn(UNITS, unit)

/** Minutes that Sentry takes where a monitor does not say. */
const USUAL = { checkin_margin: 1, max_runtime: 30 } as const

const minutesIn = (config: Fields, name: keyof typeof USUAL): number => {
  const given = config[name]
  return typeof given === "number" && given > 0 ? given : USUAL[name]
}

/** When the next check-in of a monitor must follow, if it brings a schedule. A late start and a long run share the grace. */
const expectsOf = (monitor_config: unknown): Expects | Refusal => {
  const config = fieldsOf(monitor_config)
  const { type, unit, value } = fieldsOf(config["schedule"])
  if (type === undefined) return NOTHING_EXPECTED
  const grace = Math.ceil(Math.max(minutesIn(config, "checkin_margin"), minutesIn(config, "max_runtime")))
  if (type === "crontab") {
    const tz = textOf(config["timezone"]) || "UTC"
    return { by: "terms", terms: { cron: textOf(value), tz, grace: `${grace}m` } }
  }
  const name = textOf(unit).replace(/s$/u, "")
  if (type !== "interval" || typeof value !== "number" || !(value > 0) || !isUnit(name))
    return invalid("monitor_config.schedule must have the type crontab, or interval with a number and a unit")
  const millisOf = (minutes: number) => Duration.toMillis(Duration.minutes(minutes))
  return { by: "within", millis: millisOf(value * UNITS[name] + grace), grace_millis: millisOf(grace) }
}

/** The usual environment of Sentry. Monitors of others are checks of their own. */
const PRODUCTION = "production"
/** Stands for the last run that has begun. */
const NO_ID = /^0*$/u

const MILLIS = 1_000

/** A check-in of a monitor. One whose schedule cannot be read counts without it. */
const readCheckIn = (
  slug: string,
  checkIn: Fields,
  { sha256 }: TranslationContext,
): readonly [AnyReport | undefined, ReadonlyArray<Refusal>] => {
  const status = textOf(checkIn["status"])
  if (slug === "") return [undefined, [invalid("a check-in must have a monitor_slug")]]
  const environment = textOf(checkIn["environment"]) || PRODUCTION
  const id = textOf(checkIn["check_in_id"])
  const expects = expectsOf(checkIn["monitor_config"])
  const isRefused = "refused" in expects
  const ofCheck = {
    check_id: checkIdOfParts(environment === PRODUCTION ? [slug] : [slug, environment], sha256),
    rid: NO_ID.test(id) ? "" : id.toLowerCase().replaceAll("-", ""),
    expects: isRefused ? NOTHING_EXPECTED : expects,
  }
  const refusals: ReadonlyArray<Refusal> = isRefused ? [{ ...expects, refused: "ignored" }] : []
  if (status === "in_progress") return [{ signal: "start", ...ofCheck }, refusals]
  const ended = ENDED.get(status)
  if (ended === undefined)
    return [undefined, [invalid("the status of a check-in must be in_progress, ok or error")]]
  const { end: _, ...result } = ended
  const seconds = Number(checkIn["duration"] ?? 0)
  const duration_ms = seconds > 0 && seconds < 1e6 ? Math.max(1, Math.round(seconds * MILLIS)) : 0
  const text = ended === OK ? "" : `check-in ${status}`
  return [{ signal: "result", ...ofCheck, ...result, duration_ms, ...firstOutput(text) }, refusals]
}

const ENDED = new Map([
  ["ok", OK],
  ["error", FAILED],
  ["failed", FAILED],
  ["missed", FAILED],
  ["timeout", FAILED],
])

const NOT_TAKEN: Refusal = {
  refused: "ignored",
  message: "errors and traces are ignored: Tocsin takes the check-ins of Sentry's cron monitors alone",
}

const NOTHING: Reading = { reports: [], refusals: [], heard: [], answer: { status: 200, body: "{}" } }

/** The check-ins of an envelope: each is one line, behind one that says so. Everything else is skipped. */
const inEnvelope = (body: string, context: TranslationContext): Reading | Refusal => {
  const lines = body.split("\n")
  const reports: Array<AnyReport> = []
  const refusals: Array<Refusal> = []
  let isEvent = false
  for (const [index, line] of lines.entries()) {
    const before = index < 2 ? "" : (lines[index - 1] ?? "")
    isEvent ||= EVENT.test(before)
    if (!CHECK_IN.test(before)) continue
    const read = readShallowJson(line)
    if ("refused" in read) return read
    const checkIn = fieldsOf(read.json)
    const [report, problems] = readCheckIn(textOf(checkIn["monitor_slug"]), checkIn, context)
    if (report !== undefined) reports.push(report)
    refusals.push(...problems)
  }
  if (reports.length === 0 && isEvent) refusals.push(NOT_TAKEN)
  return { ...NOTHING, reports, refusals }
}

/** The header of an item, which is one line. */
const CHECK_IN = /^\{[^{}]*"type":\s*"check_in"[^{}]*\}\s*$/u
const EVENT = /^\{[^{}]*"type":\s*"(?:event|transaction)"[^{}]*\}\s*$/u

/** A request with one check-in: its query and its JSON say the same. */
const inRequest = (
  slug: string,
  { body, query }: SenderRequest,
  context: TranslationContext,
  check_in_id?: string,
): Reading | Refusal => {
  const read = body.trim() === "" ? { json: {} } : readShallowJson(body)
  if ("refused" in read) return read
  const named = check_in_id === undefined ? {} : { check_in_id }
  const checkIn: Fields = { ...Object.fromEntries(query), ...fieldsOf(read.json), ...named }
  const [report, refusals] = readCheckIn(slug, checkIn, context)
  const id = textOf(checkIn["check_in_id"] ?? checkIn["id"])
  const answer = { status: 200, body: JSON.stringify({ id: id || "0".repeat(32) }) } as const
  return { reports: report === undefined ? [] : [report], refusals, heard: [], answer }
}

const translate: Translate = (request, context) => {
  const [api, project = "", ...rest] = request.path
  if (api !== "api" || project === "") return NOT_FOUND
  const [subject, slug = "", ...others] = rest
  if (subject === "envelope" && rest.length === 1) return inEnvelope(request.body, context)
  if (subject === "store" && rest.length === 1) return { ...NOTHING, refusals: [NOT_TAKEN] }
  if (subject === "cron" && slug !== "" && others.length <= 1) return inRequest(slug, request, context)
  const at = rest.indexOf("monitors")
  const [monitor = "", checkIns, id, ...more] = project === "0" && at !== -1 ? rest.slice(at + 1) : []
  if (monitor === "" || checkIns !== "checkins" || more.length > 0) return NOT_FOUND
  // Its client ends the run by the ID in the answer.
  return inRequest(monitor, request, context, id ?? madeName([monitor, String(context.now)], context.sha256))
}

/** Check-ins of Sentry's cron monitors, by its SDKs, by URL and by its older API (docs/rules.md#sentry-and-monit). */
export const sentry: Kind = {
  protocol: {
    ...JSON_TEXT,
    methods: ["GET", "POST", "PUT"],
    body: "envelope",
    contentType: "application/json",
    say: (failure) => JSON.stringify(failure === undefined ? {} : { detail: failure.message }),
  },
  translate,
  isLimited: false,
  hasRuns: true,
  mostChecks: 1_000,
  options: [],
  paths: (key) => [`/${key}/1`, `/${key}/api/1/cron/CHECK/?status=ok`],
}
