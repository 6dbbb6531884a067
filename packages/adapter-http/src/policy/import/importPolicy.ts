import { describeIssue } from "@tocsin/contract/describeIssue"
import { Result, Schema, SchemaParser } from "effect"
import { parse, stringify } from "yaml"
import { InhibitRule, takeInhibitions } from "./takeInhibitions.ts"
import { receiverName, Route, takeRoutes } from "./takeRoutes.ts"
import { Intervals, takeTimes } from "./takeTimes.ts"

/** The parts of Alertmanager's configuration that are taken over. */
const AlertmanagerConfig = Schema.Struct({
  route: Route,
  receivers: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Unknown))),
  inhibit_rules: Schema.optionalKey(Schema.Array(InhibitRule)),
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
      const times = takeTimes(taken.muted, named, taken.routes)
      const inhibitions = takeInhibitions(inhibit_rules)
      const kinds = receivers.map(takeReceiver)
      const not_taken_over = [
        ...kinds.flatMap((each) => each.notes),
        ...taken.notes,
        ...times.notes,
        ...inhibitions.notes,
      ]
      const policy = {
        receivers: Object.fromEntries(
          kinds.map(({ name, receiver }) => {
            const quiet = times.quiet.get(name)
            return [name, { ...receiver, ...(quiet !== undefined && { quiet }) }]
          }),
        ),
        routes: taken.routes,
        ...(inhibitions.dependencies.length > 0 && { dependencies: inhibitions.dependencies }),
        ...(times.windows.length > 0 && { windows: times.windows }),
      }
      const comments = not_taken_over.map((note) => `# not taken over: ${note}\n`).join("")
      return { policy: comments + stringify(policy), not_taken_over }
    },
  )
