import { TOKEN } from "@tocsin/contract/operators/BearerToken"
import type { DurationOption } from "@tocsin/contract/formats/durationMillis"
import { withoutTrailing } from "@tocsin/contract/formats/withoutTrailing"
import { Duration, Redacted, Result } from "effect"
import { TocsinClientError } from "../TocsinClientError.ts"
import { aFunction, duration, group, integer, type Reader } from "./readers.ts"

/** How calls that are safe to repeat are retried. */
export interface RetryOptions {
  /** At most this many retries. 5 unless given. */
  readonly times?: number | undefined
  /** All attempts and pauses together take at most this long. 1 minute unless given. */
  readonly within?: DurationOption | undefined
}

/** Options of a client. */
export interface ClientOptions {
  /** The service's address, with the path before `/api/v1`: `https://monitoring.example`. */
  readonly baseUrl: string | URL
  /** An operator's token, for everything but heartbeats and events. */
  readonly token?: string | undefined
  /** An agent's key, for heartbeats and events. */
  readonly agentKey?: string | undefined
  /** Time limit of an attempt. Unless given, 15 seconds, 20 for a test message, and 75 to try a policy. */
  readonly timeout?: DurationOption | undefined
  /**
   * Reads, heartbeats and events are retried, with growing pauses, after a failed connection and
   * after 408, 425, 429, 500, 502, 503 and 504; never before `Retry-After`. Operators' decisions
   * are sent once. `false` retries nothing.
   */
  readonly retries?: RetryOptions | false | undefined
}

type Secrets = "token" | "agentKey"
/** The same, with secrets that may be redacted. */
export type RedactedClientOptions = Omit<ClientOptions, Secrets> & {
  readonly [Name in Secrets]?: string | Redacted.Redacted | undefined
}

/** Valid options with their defaults. */
export interface ReadOptions {
  /** Without a final slash. */
  readonly baseUrl: string
  /** The part of it that messages show. */
  readonly origin: string
  readonly token: Redacted.Redacted | undefined
  readonly agentKey: Redacted.Redacted | undefined
  /** The time limit of an attempt at an address. */
  readonly timeoutOf: (url: string) => Duration.Duration
  readonly retries: { readonly times: number; readonly within: Duration.Duration }
}

const DEFAULT_TIMEOUT = Duration.seconds(15)
/** The service waits up to 15 s for the receiver of a test message, and tries a policy for at most a minute. */
const LONGER_TIMEOUTS = [
  [/\/notifiers\/[^/]*\/test$/, Duration.seconds(20)],
  [/\/policy\/try$/, Duration.seconds(75)],
] as const
const timeoutOf = (url: string): Duration.Duration =>
  LONGER_TIMEOUTS.find(([path]) => path.test(url))?.[1] ?? DEFAULT_TIMEOUT
const DEFAULT_TIMES = 5
const DEFAULT_WITHIN = Duration.minutes(1)

export const address: Reader<string | URL, URL> = (name, given, complain) => {
  const read = URL.parse(String(given))
  if (read === null || !/^https?:$/.test(read.protocol))
    return complain(`${name} must be an http or https address, such as https://monitoring.example`)
  if (read.username !== "" || read.password !== "")
    return complain(`${name} must not hold a user or a password: give the token as token`)
  if (read.search !== "" || read.hash !== "")
    return complain(`${name} must be an address without ? and #: paths are added to it`)
  return read
}

/** A bearer token. For another text, fetch throws an error that contains it. */
export const secret: Reader<string | Redacted.Redacted, Redacted.Redacted> = (name, given, complain) => {
  if (given === undefined) return undefined
  const redacted = Redacted.isRedacted(given) ? given : Redacted.make(given)
  const value: unknown = Redacted.value(redacted)
  return typeof value === "string" && TOKEN.test(value)
    ? redacted
    : complain(`${name} must be 1 to 512 visible ASCII characters`)
}

const retries = group<RetryOptions>()(
  { times: integer(0), within: duration },
  "{ times, within }, or false to repeat nothing",
)

const options = group<RedactedClientOptions & { readonly fetch?: typeof globalThis.fetch }>()({
  fetch: aFunction(),
  baseUrl: address,
  token: secret,
  agentKey: secret,
  timeout: duration,
  retries: (name, given: RetryOptions | false | undefined, complain) =>
    given === false ? { times: 0, within: undefined } : retries(name, given, complain),
})

/** Reads options; fails with all that is wrong with them. */
export const readOptions = (
  given: RedactedClientOptions,
): Result.Result<ReadOptions, TocsinClientError<"options">> => {
  const problems: Array<string> = []
  const read = options("", Object(given), (problem) => void problems.push(problem))
  if (read?.baseUrl === undefined || problems.length > 0)
    return Result.fail(new TocsinClientError("options", problems.join("\n")))
  const { href, origin } = read.baseUrl
  const { timeout } = read
  return Result.succeed({
    baseUrl: withoutTrailing(href, "/"),
    origin,
    token: read.token,
    agentKey: read.agentKey,
    timeoutOf: timeout === undefined ? timeoutOf : () => timeout,
    retries: { times: read.retries?.times ?? DEFAULT_TIMES, within: read.retries?.within ?? DEFAULT_WITHIN },
  })
}
