import { parseAllowedOrigins } from "@tocsin/adapter-http/response/headerFields"
import { parseSecrets } from "@tocsin/adapter-notify/webhook/webhook"
import { parsePublicUrl, PUBLIC_URL } from "@tocsin/contract/formats/publicUrl"
import { isWellFormed } from "@tocsin/contract/operators/BearerToken"
import { boundedMillis, durationExpected } from "@tocsin/contract/formats/durationMillis"
import { MAIL_ADDRESS, MAIL_SENDER, MOST_RECIPIENTS } from "@tocsin/contract/receivers/ReceiverTypes"
import { NotifierKind } from "@tocsin/contract/formats/Status"
import { SHORTEST_THRESHOLD } from "@tocsin/core/heart/liveness/agentStatus"
import { Duration, Redacted, Result, Schema } from "effect"

/** How the text of a setting is read, and what `--help` and messages say of it. */
export interface SettingType<A> {
  /** Completes "… must be". */
  readonly takes: string
  /** `undefined` for a text that the type does not take. */
  readonly parse: (text: string) => A | undefined
  /** Messages never repeat a secret. It may also come from a file: see `checkedSettings.ts`. */
  readonly isSecret?: true
}

/** Keeps values out of logs and messages. */
export const secret = <A>({ takes, parse }: SettingType<A>): SettingType<Redacted.Redacted<A>> => ({
  takes,
  parse: (text) => {
    const value = parse(text)
    return value === undefined ? undefined : Redacted.make(value)
  },
  isSecret: true,
})

export const matching = (pattern: RegExp, takes: string): SettingType<string> => ({
  takes,
  parse: (text) => (pattern.test(text) ? text : undefined),
})

export const splitWords = (text: string): ReadonlyArray<string> =>
  text.split(/[\s,]+/).filter((word) => word !== "")

/** Any text; the reader treats an empty one as unset. */
export const text = (takes: string) => matching(/./s, takes)

export const secretText = secret(text("any text"))

const VISIBLE_ASCII = /^[\x21-\x7e]+$/

export const word = (takes: string) => matching(VISIBLE_ASCII, takes)

export const secretWord = (takes: string) => secret(word(takes))

const listOf = (values: ReadonlyArray<string>, last: string): string =>
  `${values.slice(0, -1).join(", ")} ${last} ${values.at(-1)}`

export const oneOf = <const Value extends string>(
  values: ReadonlyArray<Value>,
  takes: string = listOf(values, "or"),
): SettingType<Value> => ({
  takes,
  parse: (given) => values.find((value) => value === given),
})

export const flag: SettingType<boolean> = {
  takes: "true or false",
  parse: (given) => (given === "true" ? true : given === "false" ? false : undefined),
}

export const wholeNumber = (min: number, max: number): SettingType<number> => ({
  takes: `a whole number from ${min} to ${max}`,
  parse: (given) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN
    return value >= min && value <= max ? value : undefined
  },
})

export const fraction: SettingType<number> = {
  takes: "a number from 0 to 1",
  parse: (given) => {
    const value = /^\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN
    return value >= 0 && value <= 1 ? value : undefined
  },
}

const durationFrom = (min: number): SettingType<Duration.Duration> => ({
  takes: durationExpected({ min }),
  parse: (given) => {
    const millis = boundedMillis(given, { min })
    return millis === undefined ? undefined : Duration.millis(millis)
  },
})

export const duration = durationFrom(1)

/** How long an agent may be silent. */
export const threshold = durationFrom(Duration.toMillis(SHORTEST_THRESHOLD))

/** How long something is kept; infinity for `0`. */
export const keepFor: SettingType<Duration.Duration> = {
  takes: `${duration.takes}, or 0 to keep forever`,
  parse: (given) => (given === "0" ? Duration.infinity : duration.parse(given)),
}

/** A span of retention; `undefined` for what is kept forever. */
export const spanOf = (kept: Duration.Duration) => (Duration.isFinite(kept) ? kept : undefined)

export const rate: SettingType<{ readonly perMinute: number; readonly burst: number }> = {
  takes: "a rate such as 120/60 (per minute / burst), or 0 for no limit",
  parse: (given) => {
    if (given === "0") return { perMinute: 0, burst: 0 }
    const [, perMinute, burst] = /^(\d{1,7})\/(\d{1,7})$/.exec(given) ?? []
    const value = { perMinute: Number(perMinute), burst: Number(burst) }
    return value.perMinute > 0 && value.burst > 0 ? value : undefined
  },
}

export const tokens: SettingType<ReadonlyArray<Redacted.Redacted>> = {
  takes: "tokens of 1 to 512 visible ASCII characters, separated by spaces or commas",
  parse: (given) => {
    const words = splitWords(given).map((one) => Redacted.make(one))
    return words.length > 0 && words.every(isWellFormed) ? words : undefined
  },
  isSecret: true,
}

export const metricsToken: SettingType<"open" | Redacted.Redacted> = {
  takes: "a token of 1 to 512 visible ASCII characters, or open",
  parse: (given) => {
    if (given === "open") return given
    const token = Redacted.make(given)
    return isWellFormed(token) ? token : undefined
  },
  isSecret: true,
}

export const fingerprints: SettingType<ReadonlyArray<string>> = {
  takes: "fingerprints of 16 lower-case hex digits, separated by spaces or commas",
  parse: (given) => {
    const words = splitWords(given)
    return words.every((fingerprint) => /^[0-9a-f]{16}$/.test(fingerprint)) ? words : undefined
  },
}

const MODULES =
  "modules, separated by commas: absolute paths, or from the working directory paths that begin with ./ and packages"

export const modules: SettingType<ReadonlyArray<string>> = {
  takes: MODULES,
  parse: (given) => {
    const names = given.split(",").map((name) => name.trim())
    return names.every((name) => name !== "") ? Array.from(new Set(names)) : undefined
  },
}

/** The receivers that settings can define: one of each kind without a type, and of some types. */
export const SETTINGS_RECEIVERS = [
  ...NotifierKind.literals,
  "email",
  "ntfy",
  "discord",
  "teams",
  "pagerduty",
] as const
export type SettingsReceiver = (typeof SETTINGS_RECEIVERS)[number]

export const settingsReceivers: SettingType<ReadonlyArray<SettingsReceiver>> = {
  takes: `some of ${listOf(SETTINGS_RECEIVERS, "and")}, separated by commas`,
  parse: (given) => {
    const names = Array.from(new Set(splitWords(given)))
    return names.every(Schema.is(Schema.Literals(SETTINGS_RECEIVERS))) ? names : undefined
  },
}

/** The address of a mail server. Its user and password are credentials. */
export const mailServer = secret<string>({
  takes: "a URL that begins with smtp:// or smtps://",
  parse: (given) => (/^smtps?:\/\/./.test(given) && URL.canParse(given) ? given : undefined),
})

export const mailSender = matching(MAIL_SENDER, "an address such as Tocsin <tocsin@example.org>")

export const mailRecipients: SettingType<ReadonlyArray<string>> = {
  takes: `1 to ${MOST_RECIPIENTS} addresses such as ops@example.org, separated by commas`,
  parse: (given) => {
    const addresses = splitWords(given)
    const isRight = addresses.length > 0 && addresses.length <= MOST_RECIPIENTS
    return isRight && addresses.every((one) => MAIL_ADDRESS.test(one)) ? addresses : undefined
  },
}

export const origins: SettingType<"*" | ReadonlyArray<string>> = {
  takes:
    "origins as browsers send them, such as https://dashboard.example (no path, no port that the scheme implies), separated by spaces or commas; or * alone, for every page",
  parse: (given) => Result.getOrUndefined(parseAllowedOrigins(splitWords(given))),
}

/** An http or https address. Its path, query and userinfo may be credentials. */
export const address = secret<string>({
  takes: "a URL that begins with http:// or https://",
  parse: (given) => (/^https?:\/\/./.test(given) && URL.canParse(given) ? given : undefined),
})

/** The base of links. */
export const publicUrl: SettingType<string> = { takes: PUBLIC_URL, parse: parsePublicUrl }

const SECURE = /^(?:https:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/]|$))/

/** Whether browsers and servers may exchange secrets with an address: it has TLS or never leaves the machine. */
export const isSecureAddress = (given: string): boolean => SECURE.test(given)

export const webhookSecrets: SettingType<ReadonlyArray<Redacted.Redacted>> = {
  takes:
    "whsec_ followed by 24 to 64 bytes in base64 (padded, as printed by openssl rand -base64 32), several separated by spaces",
  parse: (given) => {
    const secrets = given.split(/\s+/).map((one) => Redacted.make(one))
    return Result.isSuccess(parseSecrets(secrets)) ? secrets : undefined
  },
  isSecret: true,
}

/** Name and value pairs (W3C Baggage, without properties). */
export const pairs: SettingType<Readonly<Record<string, string>>> = {
  takes: "pairs such as name=value, separated by commas, their values percent-encoded",
  parse: (given) => {
    const read: Array<readonly [string, string]> = []
    for (const part of given.split(",").filter((one) => one.trim() !== "")) {
      const [, name, value] = /^([^\s=,;]+)\s*=\s*(\S*)$/.exec(part.trim()) ?? []
      if (name === undefined || value === undefined) return undefined
      const decoded = Result.try(() => decodeURIComponent(value))
      if (Result.isFailure(decoded)) return undefined
      read.push([name, decoded.success])
    }
    return Object.fromEntries(read)
  },
}

export const secretPairs = secret(pairs)

/** Where state is kept, unless it is the embedded database. */
export type Database =
  | { readonly kind: "memory" }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted }

export const database: SettingType<Database> = {
  takes:
    "unset (SQLite in tocsin.db of SERVICE_DATA_DIR), memory: or postgres://user:password@host:port/database, with special characters percent-encoded",
  parse: (given) => {
    if (given === "memory:") return { kind: "memory" }
    // No URL has several hosts, or a user without a host; the driver checks them.
    return /^postgres(ql)?:\/\/./.test(given) && (URL.canParse(given) || /,|@[/?]/.test(given))
      ? { kind: "postgres", url: Redacted.make(given) }
      : undefined
  },
  isSecret: true,
}

/** The text that counts when a setting is unset, or a description of what unset means. */
type Unset = { readonly fallback: string } | { readonly whenUnset: string }

/** One setting as data: the reader, `--help` and the doctor derive from it. */
export type Setting<A> = SettingType<A> & { readonly meaning: string } & Unset

/** Defines a setting: its type, its purpose in a few words, and what counts when it is unset. */
export const setting = <A, U extends Unset>(type: SettingType<A>, meaning: string, unset: U) => ({
  ...type,
  meaning,
  ...unset,
})

type ValueOf<S> =
  S extends SettingType<infer A> ? (S extends { readonly fallback: string } ? A : A | undefined) : never

/** The values of settings; those without a fallback are `undefined` when unset. */
export type ValuesOf<Definitions> = { readonly [Name in keyof Definitions]: ValueOf<Definitions[Name]> }
