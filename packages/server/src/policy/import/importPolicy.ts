import { describeIssue, fieldPath } from "@tocsin/contract/formats/describeIssue"
import { MAIL_ADDRESS, MAIL_SENDER, MOST_RECIPIENTS } from "@tocsin/contract/receivers/ReceiverTypes"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Result, Schema, SchemaParser } from "effect"
import { parse, stringify, YAMLParseError } from "yaml"
import { optionalTexts } from "./conditions.ts"
import { namesOf } from "./receiverNames.ts"
import { InhibitRule, takeInhibitions } from "./takeInhibitions.ts"
import { receiversOf, Route, takeRoutes } from "./takeRoutes.ts"
import { Intervals, takeTimes } from "./takeTimes.ts"

/** The parts of Alertmanager's configuration that are taken over. */
const AlertmanagerConfig = Schema.Struct({
  global: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  templates: optionalTexts,
  route: Route,
  receivers: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Unknown))),
  inhibit_rules: Schema.optionalKey(Schema.Array(InhibitRule)),
  time_intervals: Intervals,
  mute_time_intervals: Intervals,
})

type Given = Readonly<Record<string, unknown>>

const emailOf = (name: string, { from, to }: Given): object | undefined => {
  if (typeof from !== "string" || typeof to !== "string") return undefined
  const all = to.split(",").map((one) => MAIL_SENDER.exec(one.trim())?.groups?.["inner"] ?? one.trim())
  const isSound =
    MAIL_SENDER.test(from) && all.length <= MOST_RECIPIENTS && all.every((one) => MAIL_ADDRESS.test(one))
  return isSound ? { kind: "messenger", type: "email", url_env: `${name}_URL`, from, to: all } : undefined
}

/** A receiver of a policy for each kind of Alertmanager's. Their addresses stay outside the file. */
const RECEIVERS: Readonly<Record<string, (name: string, config: Given) => object | undefined>> = {
  email_configs: emailOf,
  webhook_configs: (name) => ({ kind: "webhook", url_env: `${name}_URL`, secret_env: `${name}_SECRET` }),
  slack_configs: (name) => ({ kind: "messenger", url_env: `${name}_URL` }),
  discord_configs: (name) => ({ kind: "messenger", type: "discord", url_env: `${name}_URL` }),
  msteams_configs: (name) => ({ kind: "messenger", type: "teams", url_env: `${name}_URL` }),
  pagerduty_configs: (name) => ({ kind: "alert_router", type: "pagerduty", routing_key_env: `${name}_KEY` }),
  opsgenie_configs: (name) => ({ kind: "alert_router", type: "opsgenie", key_env: `${name}_KEY` }),
}

/** Settings that a receiver of a policy has, too: its address or key, and that it gets resolutions. */
const TAKEN = /^(?:from|to|(?:(?:api_|webhook_)?url|(?:api|routing|service)_key)(?:_file)?)$/u

const settingsLeftOut = (configs: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  Array.from(
    new Set(
      configs.flatMap((config) =>
        Object.entries(config ?? {}).flatMap(([name, value]) =>
          TAKEN.test(name) || (name === "send_resolved" && value === true) ? [] : [name],
        ),
      ),
    ),
  )

const nameOf = ({ name }: Given): string => String(name)

/** A receiver, and the notes about it. One without a counterpart writes to the log. */
const takeReceiver = (given: Given, plain: string, { smtp_from }: Given = {}) => {
  const name = nameOf(given)
  const kinds = Object.keys(given).filter((key) => key.endsWith("_configs"))
  const taken = kinds.find((kind) => RECEIVERS[kind] !== undefined)
  const others = kinds.filter((kind) => kind !== taken)
  const [first] = kinds
  const configs = [given[taken ?? ""] ?? []].flat()
  const left = settingsLeftOut(configs)
  const notes = [
    ...(taken === undefined && first !== undefined
      ? [`receiver ${name}: ${first}; it writes to the log until you give it a kind`]
      : []),
    ...others
      .filter((kind) => kind !== first || taken !== undefined)
      .map((kind) => `receiver ${name}: ${kind}; a receiver of a policy has one kind`),
    ...(configs.length > 1
      ? [`receiver ${name}: all ${taken} but one; a receiver of a policy has one address`]
      : []),
    ...(taken === "webhook_configs"
      ? [`receiver ${name}: the body of its requests; a policy's webhook has its own`]
      : []),
    ...(left.length > 0 ? [`receiver ${name}: ${taken}: ${left.join(", ")}`] : []),
  ]
  const variable = `TOCSIN_SECRET_${plain.toUpperCase()}`
  const receiver = RECEIVERS[taken ?? ""]?.(variable, { from: smtp_from, ...configs[0] }) ?? { kind: "debug" }
  return { name: plain, receiver, notes }
}

/** Parts that may be empty. */
const PARTS =
  /^(?:global|templates|receivers?|routes|continue|equal|group_by|inhibit_rules|\w*match(?:_re|ers)?|\w*time_intervals|\w+_configs)$/u

/** Numbers stay as they are written, since values of labels are texts. */
const parseYaml = (text: string): unknown =>
  parse(text, (key, value: unknown) => (value === null && PARTS.test(String(key)) ? undefined : value), {
    schema: "failsafe",
    customTags: ["null", "bool"],
    merge: true,
  })

export const notYaml = (error: unknown): string => {
  const [start] = (error instanceof YAMLParseError && error.linePos) || []
  return start === undefined ? "the file must be YAML" : `the file must be YAML; see line ${start.line}`
}

/** Alertmanager starts with no configuration whose routes name receivers that are not there. */
const withReceivers = (config: typeof AlertmanagerConfig.Type) => {
  const names = new Set((config.receivers ?? []).map(nameOf))
  const missing = receiversOf(config.route).find((name) => !names.has(name))
  return missing === undefined
    ? Result.succeed(config)
    : Result.fail(`receivers must have ${missing}, which a route names`)
}

const readConfig = (text: string) =>
  Result.flatMap(Result.try({ try: () => parseYaml(text), catch: notYaml }), (given) =>
    Result.mapError(SchemaParser.decodeUnknownResult(AlertmanagerConfig)(given), (issue) =>
      describeIssue(issue, "the file"),
    ).pipe(Result.flatMap(withReceivers)),
  )

/** Notes about the parts beside routes, receivers and times. */
const settingsNotes = ({
  global = {},
  templates = [],
}: typeof AlertmanagerConfig.Type): ReadonlyArray<string> => [
  ...Object.keys(global).map((name) => `global: ${name}`),
  ...templates.map((each) => `templates: ${each}; messages of a policy have none`),
]

/**
 * Turns a configuration of Alertmanager into a policy file, and names what that does not have; a
 * text says why it cannot be read.
 */
export const importAlertmanager = (given: string) =>
  Result.flatMap(readConfig(given), (config) => {
    const {
      inhibit_rules = [],
      mute_time_intervals = [],
      receivers = [],
      route,
      time_intervals = [],
    } = config
    const nameIn = namesOf(receivers.map(nameOf))
    const taken = takeRoutes(route, nameIn)
    const named = new Map(
      [...time_intervals, ...mute_time_intervals].map((each) => [each.name, each.time_intervals]),
    )
    const times = takeTimes(taken.muted, named, taken.routes)
    const inhibitions = takeInhibitions(inhibit_rules)
    const kinds = receivers.map((each) => takeReceiver(each, nameIn(nameOf(each)), config.global))
    const not_taken_over = [
      ...settingsNotes(config),
      ...kinds.flatMap((each) => each.notes),
      ...taken.notes,
      ...times.notes,
      ...inhibitions.notes,
    ].map(plainLine)
    const policy = {
      receivers: Object.fromEntries(
        kinds.map(({ name, receiver }) => {
          const quiet = times.quiet.get(name)
          return [name, { ...receiver, ...(quiet !== undefined && { quiet }) }]
        }),
      ),
      routes: taken.routes.map(({ route: one }) => one),
      ...(inhibitions.dependencies.length > 0 && { dependencies: inhibitions.dependencies }),
      ...(times.windows.length > 0 && { windows: times.windows }),
    }
    const comments = not_taken_over.map((note) => `# not taken over: ${note}\n`).join("")
    return Result.mapBoth(readPolicy(policy, []), {
      onSuccess: () => ({ policy: comments + stringify(policy), not_taken_over }),
      onFailure: ([problem]) =>
        `no policy can state all of it: ${problem && `${fieldPath(problem.path)} ${problem.message}`}; remove parts, and import the rest`,
    })
  })
