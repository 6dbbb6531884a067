import { HTTP, parseTarget, SMTP } from "@tocsin/adapter-notify/http/Target"
import { acknowledgementProblems } from "@tocsin/core/acknowledgements/acknowledge"
import { thresholdProblems } from "@tocsin/core/liveness/agentStatus"
import { Result, Schema } from "effect"
import { configuredNotifiers, NOTIFIER_ADDRESSES } from "../rules.ts"
import {
  type Environment,
  readSettings,
  type SettingProblem,
  type SettingsRead,
  unknownSettings,
} from "./readSettings.ts"
import type { Settings } from "./Settings.ts"

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

/** A rule about several settings. */
interface Conflict {
  /** The setting to change, which the message begins with, then the others. */
  readonly names: readonly [Name, ...ReadonlyArray<Name>]
  readonly message: string
  readonly holds: boolean
  readonly isMissing?: true
}

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
      names: ["SERVICE_WEBHOOK_SECRET", "SERVICE_WEBHOOK_URL"],
      message: "SERVICE_WEBHOOK_SECRET and SERVICE_WEBHOOK_URL must be set together",
      holds: has("SERVICE_WEBHOOK_URL") !== has("SERVICE_WEBHOOK_SECRET"),
    },
    {
      names: ["SERVICE_TELEGRAM_CHAT", "SERVICE_TELEGRAM_TOKEN"],
      message: "SERVICE_TELEGRAM_CHAT and SERVICE_TELEGRAM_TOKEN must be set together",
      holds: has("SERVICE_TELEGRAM_TOKEN") !== has("SERVICE_TELEGRAM_CHAT"),
    },
    {
      names: ["SERVICE_MESSENGER_URL", "SERVICE_TELEGRAM_TOKEN"],
      message: "SERVICE_MESSENGER_URL and SERVICE_TELEGRAM_TOKEN are both set; choose one messenger",
      holds: has("SERVICE_MESSENGER_URL") && has("SERVICE_TELEGRAM_TOKEN"),
    },
    ...(["SERVICE_EMAIL_FROM", "SERVICE_EMAIL_TO"] as const).map((name): Conflict => ({
      names: [name, "SERVICE_SMTP_URL"],
      message: `${name} and SERVICE_SMTP_URL must be set together`,
      holds: has("SERVICE_SMTP_URL") !== has(name),
    })),
    ...(values.SERVICE_NOTIFIERS ?? []).map((receiver): Conflict => ({
      names: ["SERVICE_NOTIFIERS", ...NOTIFIER_ADDRESSES[receiver]],
      message: `SERVICE_NOTIFIERS names ${receiver}, which has no address: set ${NOTIFIER_ADDRESSES[receiver].join(" or ")}, or leave it out`,
      holds: !configuredNotifiers(values).has(receiver),
    })),
  ]
}

const TARGETS = [...Object.values(NOTIFIER_ADDRESSES).flat(), "SERVICE_WATCHDOG_URL"] as const

/** Addresses that notifiers and watchdog pings must not call, or cannot use (docs/rules.md#targets). */
const refusedTargets = (values: Values): ReadonlyArray<SettingProblem> => {
  const policy = { denyPrivateTargets: values.SERVICE_DENY_PRIVATE_TARGETS ?? false }
  return TARGETS.flatMap((name) => {
    const isToken = name === "SERVICE_TELEGRAM_TOKEN" || name === "SERVICE_PAGERDUTY_KEY"
    const address = isToken ? undefined : values[name]
    const schemes = name === "SERVICE_SMTP_URL" ? SMTP : HTTP
    const target = address && parseTarget(address, policy, schemes)
    if (target === undefined || Result.isSuccess(target)) return []
    return [{ name, message: `${name} ${target.failure}` }]
  })
}

/** The settings with all problems: of each one, and of several together. */
export const examinedSettings = (environment: Environment): SettingsRead => {
  const { values, problems } = readSettings(environment)
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
  const all = [...problems, ...unknownSettings(environment)]
  return Result.fail(new BadSettings({ problems: all.map(({ message }) => message) }))
}

/** All settings of a server; fails with every problem at once. */
export const checkedSettings = (environment: Environment): Result.Result<Settings, BadSettings> =>
  checked(examinedSettings(environment), environment)

/** The same for commands, which serve no requests and need no token for them. */
export const commandSettings = (environment: Environment): Result.Result<Settings, BadSettings> => {
  const { values, problems } = examinedSettings(environment)
  const ofCommands = problems.filter(({ name }) => name !== "SERVICE_AUTH_TOKEN")
  return checked({ values, problems: ofCommands }, environment)
}
