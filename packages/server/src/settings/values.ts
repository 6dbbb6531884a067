import { parseAllowedOrigins } from "@tocsin/adapter-http/request/AllowedOrigins"
import { parseSecrets } from "@tocsin/adapter-notify/webhook/signing"
import { NotifierKind } from "@tocsin/core/contract/Status"
import { SHORTEST_THRESHOLD } from "@tocsin/core/liveness/thresholds"
import { Duration, Effect, Redacted, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** A codec from text by a function that gives `undefined` for text it does not take. */
const parsed = <A>(parse: (text: string) => A | undefined) =>
  Schema.String.pipe(
    Schema.decodeTo(
      Schema.declare((value): value is NonNullable<A> => value !== undefined && value !== null),
      SchemaTransformation.transformEffect<NonNullable<A>, string>({
        decode: (text, options) => {
          const value = parse(text)
          return value === undefined || value === null
            ? Effect.fail(new SchemaIssue.InvalidValue({ expected: "a valid setting" }, text, options))
            : Effect.succeed(value)
        },
        encode: (value) => Effect.succeed(String(value)),
      }),
    ),
  )

/** A whole number from `min` to `max`, in decimal digits. */
export const Whole = (min: number, max: number) =>
  parsed((text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : undefined
    return value !== undefined && value >= min && value <= max ? value : undefined
  })

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A duration such as `90s`, `5m`, `12h`, `93d`, `1500ms`; longer than nothing. */
export const DurationText = parsed((text) => toDuration(text))

/** A threshold of silence: a duration long enough for the service to tell an outage of its own from that of an agent. */
export const Threshold = parsed((text) => {
  const duration = toDuration(text)
  return duration && Duration.isGreaterThanOrEqualTo(duration, SHORTEST_THRESHOLD) ? duration : undefined
})

const toDuration = (text: string): Duration.Duration | undefined => {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text)
  if (match === null || Number(match[1]) === 0) return undefined
  // The pattern admits these units only.
  return Duration.millis(Number(match[1]) * UNITS[match[2] as keyof typeof UNITS])
}

/** Any text, kept from logs and messages. */
export const Secret = parsed((text) => Redacted.make(text))

const WORD = /^[\x21-\x7e]+$/

/** Visible ASCII characters, one or more. */
export const Word = parsed((text) => (WORD.test(text) ? text : undefined))

/** The same, kept from logs and messages. */
export const SecretWord = parsed((text) => (WORD.test(text) ? Redacted.make(text) : undefined))

const TOKEN = /^[\x21-\x7e]{1,512}$/

/** Tokens separated by spaces or commas, each of 1 to 512 visible ASCII characters. */
export const Tokens = parsed((text) => {
  const tokens = text.split(/[\s,]+/).filter((token) => token !== "")
  return tokens.length > 0 && tokens.every((token) => TOKEN.test(token))
    ? tokens.map((token) => Redacted.make(token))
    : undefined
})

/** A token of 1 to 512 visible ASCII characters, or `open`. */
export const MetricsToken = parsed((text): "open" | Redacted.Redacted | undefined => {
  if (text === "open") return text
  return TOKEN.test(text) ? Redacted.make(text) : undefined
})

const FINGERPRINT = /^[0-9a-f]{16}$/

/** Key fingerprints separated by spaces or commas. */
export const Fingerprints = parsed((text) => {
  const fingerprints = text.split(/[\s,]+/).filter((fingerprint) => fingerprint !== "")
  return fingerprints.every((fingerprint) => FINGERPRINT.test(fingerprint)) ? fingerprints : undefined
})

const RATE = /^(\d{1,7})\/(\d{1,7})$/

/** A rate such as `120/60`: so many a minute, so many at once; `0` for no limit. */
export const Rate = parsed((text) => {
  if (text === "0") return { perMinute: 0, burst: 0 }
  const match = RATE.exec(text)
  const rate = { perMinute: Number(match?.[1]), burst: Number(match?.[2]) }
  return rate.perMinute > 0 && rate.burst > 0 ? rate : undefined
})

/** How long something is kept: a duration, or `0` for ever. */
export const KeepFor = parsed((text) => (text === "0" ? Duration.infinity : toDuration(text)))

/** Some of the kinds of notifiers, separated by commas; each counts once. */
export const NotifierKinds = parsed((text) => {
  const kinds = Array.from(new Set(text.split(/[\s,]+/).filter((kind) => kind !== "")))
  return kinds.every(Schema.is(NotifierKind)) ? kinds : undefined
})

/** Origins that browsers may call from, separated by spaces or commas; or `*` alone. */
export const Origins = parsed((text) =>
  Result.getOrUndefined(parseAllowedOrigins(text.split(/[\s,]+/).filter((origin) => origin !== ""))),
)

/** Any http or https address; it may hold a password or a token. */
export const SecretAddress = parsed((text) =>
  /^https?:\/\/./.test(text) && URL.canParse(text) ? Redacted.make(text) : undefined,
)

/** Secrets of Standard Webhooks, separated by spaces. */
export const WebhookSecrets = parsed((text) => {
  const secrets = text.split(/\s+/).map((secret) => Redacted.make(secret))
  return Result.isSuccess(parseSecrets(secrets)) ? secrets : undefined
})

const parsePairs = (text: string): Readonly<Record<string, string>> | undefined => {
  const pairs: Array<readonly [string, string]> = []
  for (const part of text.split(",").filter((one) => one.trim() !== "")) {
    const [, name, value] = /^\s*([^\s=,;]+)\s*=\s*(\S*)\s*$/.exec(part) ?? []
    if (name === undefined || value === undefined) return undefined
    const decoded = Result.try(() => decodeURIComponent(value))
    if (Result.isFailure(decoded)) return undefined
    pairs.push([name, decoded.success])
  }
  return Object.fromEntries(pairs)
}

/** Pairs `name=value`, separated by commas, values percent-encoded (W3C Baggage, without properties). */
export const KeyValues = parsed(parsePairs)

/** The same, kept from logs and messages. */
export const SecretKeyValues = parsed((text) => {
  const pairs = parsePairs(text)
  return pairs && Redacted.make(pairs)
})

/** A number from 0 to 1. */
export const Fraction = parsed((text) => {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  return value >= 0 && value <= 1 ? value : undefined
})

/** `true` or `false`. */
export const Flag = parsed((text) => (text === "true" ? true : text === "false" ? false : undefined))

/** Where state is kept. */
export type Database =
  | { readonly kind: "memory" }
  | { readonly kind: "postgres"; readonly url: Redacted.Redacted }

/** `memory:` or a PostgreSQL address, which may hold a password. */
export const DatabaseUrl = parsed((text): Database | undefined => {
  if (text === "memory:") return { kind: "memory" }
  // One that cannot be parsed may be one with several hosts: whoever connects says what is wrong with it.
  return /^postgres(ql)?:\/\/./.test(text) && (URL.canParse(text) || text.includes(","))
    ? { kind: "postgres", url: Redacted.make(text) }
    : undefined
})
