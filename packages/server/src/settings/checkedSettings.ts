import { HTTP, parseTarget, SMTP } from "@tocsin/adapter-notify/http/Target"
import { MAX_SECRET_BYTES, readBoundedFile } from "@tocsin/adapter-notify/readBoundedFile"
import { nearestName } from "@tocsin/contract/formats/nearestName"
import { acknowledgementProblems } from "@tocsin/core/heart/acknowledgements/acknowledge"
import { thresholdProblems } from "@tocsin/core/heart/liveness/agentStatus"
import { Result, Schema, Struct } from "effect"
import { errorCode } from "../errorCode.ts"
import { extensionWarnings } from "../extensions/Extensions.ts"
import { withExtensions } from "../extensions/withExtensions.ts"
import { withoutSecrets } from "../output/texts.ts"
import { configuredNotifiers, NOTIFIER_ADDRESSES } from "../rules.ts"
import { definitions, type Settings } from "./Settings.ts"
import type { Setting } from "./settingTypes.ts"
import { signInConflicts } from "../features/signIn/signInConflicts.ts"

export type Environment = Readonly<Record<string, string | undefined>>

export interface SettingProblem {
  readonly name: string
  readonly message: string
  /** The server needs this setting and it is not set; commands do without it. */
  readonly isMissing?: true
}

/** Settings of which some may be invalid; those have no value. */
export interface SettingsRead {
  readonly values: Partial<Settings>
  readonly problems: ReadonlyArray<SettingProblem>
}

/** A setting's text, and how a message names the place where it was found. */
interface GivenText {
  readonly text: string | undefined
  readonly place: string
}

const settings = Object.entries<Setting<unknown>>(definitions)

/** Names a file with the secret: container secrets and systemd credentials are files. */
export const fileVariableOf = (name: string): string => `${name}_FILE`

const isGiven = (text: string | undefined): text is string => text !== undefined && text.trim() !== ""

const READ_FAILURES: Readonly<Record<string, (variable: string) => string>> = {
  ENOENT: (variable) => `${variable} names a file that does not exist: correct the path, or mount the file`,
  EACCES: (variable) => `${variable} names a file that Tocsin's user cannot read: make that user its owner`,
  EISDIR: (variable) => `${variable} names a folder, but must name a file`,
}

const readFailureMessage = (variable: string, code: string): string =>
  READ_FAILURES[code]?.(variable) ?? `${variable} names a file that cannot be read (${code}): check its disk`

/** The text of a secret's file. Messages omit its path, which may be the secret itself by mistake. */
const fileText = (variable: string, path: string): Result.Result<string, string> => {
  const read = Result.try(() => readBoundedFile(path, MAX_SECRET_BYTES))
  if (Result.isFailure(read)) return Result.fail(readFailureMessage(variable, errorCode(read.failure)))
  if (read.success === undefined)
    return Result.fail(`${variable} names a file that is larger than 64 KiB: correct the path`)
  return isGiven(read.success)
    ? Result.succeed(read.success)
    : Result.fail(`${variable} names an empty file: write the setting into it, or unset ${variable}`)
}

/** An empty variable counts as unset; an empty file does not, because its variable is set. */
const givenText = (
  name: string,
  isSecret: boolean,
  environment: Environment,
): Result.Result<GivenText, string> => {
  const own = environment[name]
  const variable = fileVariableOf(name)
  const path = isSecret ? environment[variable] : undefined
  if (!isGiven(path)) return Result.succeed({ text: isGiven(own) ? own.trim() : undefined, place: name })
  if (isGiven(own)) return Result.fail(`${name} and ${variable} are both set; unset one of them`)
  return Result.map(fileText(variable, path.trim()), (text) => ({
    text: text.trim(),
    place: `the file that ${variable} names`,
  }))
}

const LONGEST_ECHO = 64

const readSetting = (
  name: string,
  { parse, takes, isSecret, ...unset }: Setting<unknown>,
  environment: Environment,
): Result.Result<unknown, string> =>
  Result.flatMap(givenText(name, isSecret === true, environment), ({ text, place }) => {
    const effective = text ?? ("fallback" in unset ? unset.fallback : undefined)
    if (effective === undefined) return Result.succeed(undefined)
    const value = parse(effective)
    if (value !== undefined) return Result.succeed(value)
    const shown = isSecret
      ? "a value that is not shown"
      : JSON.stringify(withoutSecrets(effective).slice(0, LONGEST_ECHO))
    return Result.fail(`${place} is set to ${shown}, but must be ${takes}`)
  })

/** Reads each setting on its own, or only some. */
export const readSettings = (
  environment: Environment,
  names: ReadonlyArray<keyof typeof definitions> = Struct.keys(definitions),
): SettingsRead => {
  const problems: Array<SettingProblem> = []
  const values: Record<string, unknown> = {}
  for (const name of names) {
    Result.match(readSetting(name, definitions[name], environment), {
      onSuccess: (value) => (values[name] = value),
      onFailure: (message) => problems.push({ name, message }),
    })
  }
  // Each value was parsed by the type of its name.
  return { values: values as Partial<Settings>, problems }
}

const PREFIX = "SERVICE_"

const known = settings.flatMap(([name, { isSecret }]) => (isSecret ? [name, fileVariableOf(name)] : [name]))

/** Variables that look like settings but are not, without their values, and doubts about modules. */
export const doubtfulSettings = (environment: Environment): ReadonlyArray<SettingProblem> => [
  ...misspelt(environment),
  ...extensionWarnings().map((message) => ({ name: "SERVICE_EXTENSIONS", message })),
]

/** The prefix, which most have, says nothing about which one was meant. */
const withoutPrefix = (name: string): string => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name)

const nearestSetting = (name: string): string | undefined => {
  const nearest = nearestName(withoutPrefix(name), known.map(withoutPrefix))
  return known.find((setting) => withoutPrefix(setting) === nearest)
}

const misspelt = (environment: Environment): ReadonlyArray<SettingProblem> =>
  Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && isGiven(environment[name]))
    .toSorted()
    .map((name) => {
      const nearest = nearestSetting(name)
      return {
        name,
        message:
          nearest === undefined
            ? `${name} is not a setting and has no effect; see tocsin serve --help for all settings`
            : `${name} is not a setting and has no effect; did you mean ${nearest}?`,
      }
    })

/** Some settings are invalid, with a sentence for each. */
export class BadSettings extends Schema.TaggedError<BadSettings>()("BadSettings", {
  problems: Schema.Array(Schema.String),
}) {
  override get message(): string {
    return this.listedUnder("these settings are not valid (see tocsin serve --help):")
  }

  /** All problems, a line each, below a heading. */
  listedUnder(heading: string): string {
    return [heading, ...this.problems.map((problem) => `  ${problem}`)].join("\n")
  }
}

type Values = Partial<Settings>
type Name = keyof Settings

interface Conflict {
  /** The setting to change, which the message begins with, then the others. */
  readonly names: readonly [Name, ...ReadonlyArray<Name>]
  readonly message: string
  readonly holds: boolean
  readonly isMissing?: true
}

const TOGETHER = [
  ["SERVICE_WEBHOOK_SECRET", "SERVICE_WEBHOOK_URL"],
  ["SERVICE_TELEGRAM_CHAT", "SERVICE_TELEGRAM_TOKEN"],
  ["SERVICE_EMAIL_FROM", "SERVICE_SMTP_URL"],
  ["SERVICE_MAIL_TLS_CERT", "SERVICE_MAIL_TLS_KEY"],
] as const satisfies ReadonlyArray<readonly [Name, Name]>

const conflicts = (values: Values): ReadonlyArray<Conflict> => {
  const has = (name: Name) => values[name] !== undefined
  const { SERVICE_DEAD_AFTER: deadAfter, SERVICE_STALE_AFTER: staleAfter } = values
  const { SERVICE_ACK_FOR: acknowledgedFor, SERVICE_ACK_MAX: longestAcknowledgement } = values
  return [
    {
      names: ["SERVICE_AUTH_TOKEN", "DATABASE_URL"],
      message:
        "SERVICE_AUTH_TOKEN is not set, but PostgreSQL requires it: generate a token with openssl rand -base64 32",
      holds: values.DATABASE_URL?.kind === "postgres" && !has("SERVICE_AUTH_TOKEN"),
      isMissing: true,
    },
    {
      names: ["SERVICE_DEAD_AFTER", "SERVICE_STALE_AFTER"],
      message: "SERVICE_DEAD_AFTER must be longer than SERVICE_STALE_AFTER",
      holds:
        deadAfter !== undefined &&
        staleAfter !== undefined &&
        thresholdProblems({ deadAfter, staleAfter }).length > 0,
    },
    {
      names: ["SERVICE_ACK_FOR", "SERVICE_ACK_MAX"],
      message: "SERVICE_ACK_FOR must not be longer than SERVICE_ACK_MAX",
      holds:
        acknowledgedFor !== undefined &&
        longestAcknowledgement !== undefined &&
        acknowledgementProblems({ acknowledgedFor, longestAcknowledgement }).length > 0,
    },
    {
      names: ["SERVICE_MESSENGER_URL", "SERVICE_TELEGRAM_TOKEN"],
      message: "SERVICE_MESSENGER_URL and SERVICE_TELEGRAM_TOKEN are both set; choose one messenger",
      holds: has("SERVICE_MESSENGER_URL") && has("SERVICE_TELEGRAM_TOKEN"),
    },
    ...signInConflicts(values),
    ...TOGETHER.map((names): Conflict => ({
      names,
      message: `${names[0]} and ${names[1]} must be set together`,
      holds: has(names[0]) !== has(names[1]),
    })),
    {
      names: ["SERVICE_EMAIL_TO", "SERVICE_SMTP_URL"],
      message: "SERVICE_EMAIL_TO needs SERVICE_SMTP_URL and SERVICE_EMAIL_FROM: set both, or unset it",
      holds: has("SERVICE_EMAIL_TO") && !has("SERVICE_SMTP_URL"),
    },
    ...(values.SERVICE_NOTIFIERS ?? []).map((receiver): Conflict => ({
      names: ["SERVICE_NOTIFIERS", ...NOTIFIER_ADDRESSES[receiver]],
      message: `SERVICE_NOTIFIERS names ${receiver}, which has no address: set ${NOTIFIER_ADDRESSES[receiver].join(" or ")}, or leave it out`,
      holds: !configuredNotifiers(values).has(receiver),
    })),
  ]
}

const TARGETS = [
  ...Object.values(NOTIFIER_ADDRESSES).flat(),
  "SERVICE_SMTP_URL",
  "SERVICE_WATCHDOG_URL",
] as const

/** Addresses that notifiers and watchdog pings must not call, or cannot use (docs/rules.md#targets). */
const refusedTargets = (values: Values): ReadonlyArray<SettingProblem> => {
  const policy = { denyPrivateTargets: values.SERVICE_DENY_PRIVATE_TARGETS ?? false }
  return TARGETS.flatMap((name) => {
    const isOther =
      name === "SERVICE_TELEGRAM_TOKEN" || name === "SERVICE_PAGERDUTY_KEY" || name === "SERVICE_EMAIL_TO"
    const address = isOther ? undefined : values[name]
    const schemes = name === "SERVICE_SMTP_URL" ? SMTP : HTTP
    const target = address && parseTarget(address, policy, schemes)
    if (target === undefined || Result.isSuccess(target)) return []
    return [{ name, message: `${name} ${target.failure}` }]
  })
}

/** The settings with all problems: of each one, and of several together. */
export const examinedSettings = (environment: Environment, isApart = false): SettingsRead => {
  const read = readSettings(environment)
  const { values, problems: ofModules } = withExtensions(read.values, isApart)
  const problems = [
    ...read.problems,
    ...ofModules.map((message) => ({ name: "SERVICE_EXTENSIONS", message })),
  ]
  const invalid = new Set(problems.map(({ name }) => name))
  const conflicting = conflicts(values)
    .filter(({ names, holds }) => holds && !names.some((name) => invalid.has(name)))
    .map(({ names: [name], message, isMissing }) => ({ name, message, ...(isMissing && { isMissing }) }))
  return { values, problems: [...problems, ...conflicting, ...refusedTargets(values)] }
}

const checked = (
  { values, problems }: SettingsRead,
  environment: Environment,
): Result.Result<Settings, BadSettings> => {
  // Without a problem every setting has its value.
  if (problems.length === 0) return Result.succeed(values as Settings)
  // A missing setting may have been given under a misspelt name.
  const all = [...problems, ...doubtfulSettings(environment)]
  return Result.fail(new BadSettings({ problems: all.map(({ message }) => message) }))
}

/** All settings of a server; fails with every problem at once. */
export const checkedSettings = (environment: Environment): Result.Result<Settings, BadSettings> =>
  checked(examinedSettings(environment), environment)

/**
 * The same for commands, which serve no requests and need no token for them. `isApart`: a storage of a module may
 * stand beside DATABASE_URL, which then counts.
 */
export const commandSettings = (
  environment: Environment,
  isApart = false,
): Result.Result<Settings, BadSettings> => {
  const { values, problems } = examinedSettings(environment, isApart)
  const ofCommands = problems.filter(({ name }) => name !== "SERVICE_AUTH_TOKEN")
  return checked({ values, problems: ofCommands }, environment)
}
