import { describeIssue } from "@tocsin/contract/describeIssue"
import { durationText } from "@tocsin/contract/durationMillis"
import { Result, Schema, SchemaParser } from "effect"
import { parse, stringify } from "yaml"
import {
  matchOf,
  type MutedRoute,
  receiverName,
  Route,
  takeRoutes,
  optionalText,
  optionalTexts,
} from "./takeRoutes.ts"

/** A time of a time interval: all of its parts must hold. */
const Interval = Schema.Struct({
  times: Schema.optionalKey(
    Schema.Array(Schema.Struct({ start_time: Schema.String, end_time: Schema.String })),
  ),
  weekdays: optionalTexts,
  days_of_month: optionalTexts,
  months: optionalTexts,
  years: optionalTexts,
  location: optionalText,
})
type Interval = typeof Interval.Type

const Intervals = Schema.optionalKey(
  Schema.Array(Schema.Struct({ name: Schema.String, time_intervals: Schema.Array(Interval) })),
)

/** The parts of Alertmanager's configuration that are taken over. */
const AlertmanagerConfig = Schema.Struct({
  route: Route,
  receivers: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Unknown))),
  inhibit_rules: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  time_intervals: Intervals,
  mute_time_intervals: Intervals,
})

/** A receiver of a policy for each kind of Alertmanager's. Their addresses stay outside the file. */
const RECEIVERS: Readonly<Record<string, (name: string) => object>> = {
  webhook_configs: (name) => ({ kind: "webhook", url_env: `${name}_URL`, secret_env: `${name}_SECRET` }),
  slack_configs: (name) => ({ kind: "messenger", url_env: `${name}_URL` }),
  discord_configs: (name) => ({ kind: "messenger", type: "discord", url_env: `${name}_URL` }),
  msteams_configs: (name) => ({ kind: "messenger", type: "teams", url_env: `${name}_URL` }),
  pagerduty_configs: (name) => ({ kind: "alert_router", type: "pagerduty", routing_key_env: `${name}_KEY` }),
  opsgenie_configs: (name) => ({ kind: "alert_router", type: "opsgenie", key_env: `${name}_KEY` }),
}

/** A receiver, and the notes about it. One without a counterpart writes to the log. */
const takeReceiver = (given: Readonly<Record<string, unknown>>) => {
  const name = String(given["name"])
  const kinds = Object.keys(given).filter((key) => key.endsWith("_configs"))
  const taken = kinds.find((kind) => RECEIVERS[kind] !== undefined)
  const others = kinds.filter((kind) => kind !== taken)
  const variable = `TOCSIN_SECRET_${receiverName(name).toUpperCase()}`
  const [first] = kinds
  const notes = [
    ...(taken === undefined && first !== undefined
      ? [`receiver ${name}: ${first}; it writes to the log until you give it a kind`]
      : []),
    ...others
      .filter((kind) => kind !== first || taken !== undefined)
      .map((kind) => `receiver ${name}: ${kind}; a receiver of a policy has one kind`),
  ]
  const receiver = (taken === undefined ? undefined : RECEIVERS[taken]?.(variable)) ?? { kind: "debug" }
  return { name: receiverName(name), receiver, notes }
}

const MINUTES_OF_DAY = 1_440

const minuteOf = (text: string): number => {
  const [hours = 0, minutes = 0] = text.split(":").map(Number)
  return hours * 60 + minutes
}

/** A list of ranges as cron has it; absent if it says more. */
const rangesOf = (ranges: ReadonlyArray<string> | undefined, names?: number): string | undefined => {
  const texts = (ranges ?? []).map((range) =>
    range
      .toLowerCase()
      .split(":")
      .map((end) => (names === undefined ? end : end.slice(0, /^\d/u.test(end) ? 2 : names)))
      .join("-"),
  )
  return texts.some((text) => text.startsWith("-") || text.includes("--"))
    ? undefined
    : texts.join(",") || "*"
}

/** The windows of one time of an interval; absent if a window cannot state it. */
const windowsOf = ({ days_of_month, location, months, times, weekdays, years }: Interval) => {
  const [days, ofMonth, month] = [rangesOf(weekdays, 3), rangesOf(days_of_month), rangesOf(months, 3)]
  const isStated = days !== undefined && ofMonth !== undefined && month !== undefined && years === undefined
  // With both, cron means either.
  if (!isStated || (days !== "*" && ofMonth !== "*")) return undefined
  return (times ?? [{ start_time: "00:00", end_time: "24:00" }]).map(({ end_time, start_time }) => {
    const start = minuteOf(start_time)
    const length = (minuteOf(end_time) - start + MINUTES_OF_DAY) % MINUTES_OF_DAY || MINUTES_OF_DAY
    return {
      cron: `${start % 60} ${Math.floor(start / 60)} ${ofMonth} ${month} ${days}`,
      tz: location ?? "Etc/UTC",
      for: durationText(length * 60_000),
    }
  })
}

type Intervals = ReadonlyMap<string, ReadonlyArray<Interval>>

/** Windows during which the alerts of a route are muted. */
const takeWindows = (muted: ReadonlyArray<MutedRoute>, intervals: Intervals) => {
  const windows: Array<object> = []
  const notes: Array<string> = []
  for (const { condition, intervals: names } of muted)
    for (const name of names)
      for (const interval of intervals.get(name) ?? []) {
        const stated = windowsOf(interval)
        if (stated === undefined) {
          notes.push(
            `time interval ${name}: a window has no years, no days from the end of a month, and not both kinds of days`,
          )
          continue
        }
        for (const all of condition)
          for (const window of stated) {
            const plain = name
              .toLowerCase()
              .replace(/[^a-z0-9._-]/gu, "-")
              .slice(0, 50)
            windows.push({ name: `${plain}-${windows.length + 1}`, ...window, match: matchOf(all) ?? [] })
          }
      }
  return { windows, notes: Array.from(new Set(notes)) }
}

const readConfig = (text: string) =>
  Result.flatMap(
    Result.try({ try: () => parse(text) as unknown, catch: () => "the file must be YAML" }),
    (given) =>
      Result.mapError(SchemaParser.decodeUnknownResult(AlertmanagerConfig)(given), (issue) =>
        describeIssue(issue, "the file"),
      ),
  )

/**
 * Turns a configuration of Alertmanager into a policy file, and names what that does not have; a
 * text says why it cannot be read.
 */
export const importAlertmanager = (given: string) =>
  Result.map(
    readConfig(given),
    ({ inhibit_rules = [], mute_time_intervals = [], receivers = [], route, time_intervals = [] }) => {
      const taken = takeRoutes(route)
      const named = new Map(
        [...time_intervals, ...mute_time_intervals].map((each) => [each.name, each.time_intervals]),
      )
      const { notes, windows } = takeWindows(taken.muted, named)
      const kinds = receivers.map(takeReceiver)
      const not_taken_over = [
        ...kinds.flatMap((each) => each.notes),
        ...taken.notes,
        ...notes,
        ...inhibit_rules.map(
          (_, index) => `inhibit_rules[${index}]; acknowledge or silence what follows from another alert`,
        ),
      ]
      const policy = {
        receivers: Object.fromEntries(kinds.map(({ name, receiver }) => [name, receiver])),
        routes: taken.routes,
        ...(windows.length > 0 && { windows }),
      }
      const comments = not_taken_over.map((note) => `# not taken over: ${note}\n`).join("")
      return { policy: comments + stringify(policy), not_taken_over }
    },
  )
