import { unknownOptions } from "@tocsin/core/contract/nearestName"
import { Duration, Option, Redacted, Result } from "effect"
import { TocsinClientError } from "../TocsinClientError.ts"

type Unit = "millis" | "second" | "seconds" | "minute" | "minutes" | "hour" | "hours"

/** A length of time: `"5 seconds"`, or a number of milliseconds. */
export type ClientDuration = number | `${number} ${Unit}`

/** How calls that are safe to repeat are retried. */
export interface RetryOptions {
  /** At most this many retries. 5 unless given. */
  readonly times?: number | undefined
  /** All attempts and pauses together take at most this long. 1 minute unless given. */
  readonly within?: ClientDuration | undefined
}

/** Options of a client. */
export interface ClientOptions {
  /** The service's address, with the path before `/api/v1`: `https://monitoring.example`. */
  readonly baseUrl: string | URL
  /** An operator's token, for everything but heartbeats and events. */
  readonly token?: string | Redacted.Redacted | undefined
  /** An agent's key, for heartbeats and events. */
  readonly agentKey?: string | Redacted.Redacted | undefined
  /** Time limit of an attempt. 15 seconds unless given. */
  readonly timeout?: ClientDuration | undefined
  /**
   * Reads, heartbeats and events are retried, with growing pauses, after a failed connection and
   * after 408, 425, 429, 500, 502, 503 and 504; never before `Retry-After`. Operators' decisions
   * are sent once. `false` retries nothing.
   */
  readonly retries?: RetryOptions | false | undefined
}

/** Valid options with their defaults. */
export interface ReadOptions {
  /** Without a final slash. */
  readonly baseUrl: string
  /** The part of it that messages show. */
  readonly origin: string
  readonly token: Redacted.Redacted | undefined
  readonly agentKey: Redacted.Redacted | undefined
  readonly timeout: Duration.Duration
  readonly retries: { readonly times: number; readonly within: Duration.Duration }
}

const DEFAULT_TIMEOUT = Duration.seconds(15)
const DEFAULT_TIMES = 5
const DEFAULT_WITHIN = Duration.minutes(1)

// The service's rule for bearer tokens. For others, fetch throws an error that contains the token.
const TOKEN = /^[\x21-\x7e]{1,512}$/

const KNOWN = ["baseUrl", "token", "agentKey", "timeout", "retries", "fetch"]
const KNOWN_OF_RETRIES = ["times", "within"]

/** Records a problem; its result stands for the invalid value. */
type Complain = (problem: string) => undefined

const readAddress = (baseUrl: unknown, complain: Complain): URL | undefined => {
  const address = URL.parse(String(baseUrl))
  if (address === null || !/^https?:$/.test(address.protocol))
    return complain("baseUrl must be an http or https address, such as https://monitoring.example")
  if (address.username !== "" || address.password !== "")
    return complain("baseUrl must not hold a user or a password: give the token as token")
  if (address.search !== "" || address.hash !== "")
    return complain("baseUrl must be an address without ? and #: paths are added to it")
  return address
}

const readToken = (name: string, token: string | Redacted.Redacted | undefined, complain: Complain) => {
  if (token === undefined) return undefined
  const redacted = Redacted.isRedacted(token) ? token : Redacted.make(token)
  const value: unknown = Redacted.value(redacted)
  return typeof value === "string" && TOKEN.test(value)
    ? redacted
    : complain(`${name} must be 1 to 512 visible ASCII characters`)
}

const readDuration = (name: string, input: ClientDuration | undefined, complain: Complain) => {
  if (input === undefined) return undefined
  const duration = Option.getOrUndefined(Duration.fromInput(input))
  return duration !== undefined && Duration.isPositive(duration)
    ? duration
    : complain(`${name} must be a time above 0, such as "15 seconds" or a number of milliseconds`)
}

const readTimes = (times: number | undefined, complain: Complain): number | undefined =>
  times === undefined || (Number.isSafeInteger(times) && times >= 0)
    ? times
    : complain("retries.times must be a whole number from 0")

const readRetries = (retries: ClientOptions["retries"], complain: Complain): ReadOptions["retries"] => {
  if (retries !== undefined && retries !== false && (typeof retries !== "object" || retries === null))
    complain("retries must be { times, within }, or false to repeat nothing")
  for (const problem of unknownOptions("retries.", retries, KNOWN_OF_RETRIES)) complain(problem)
  const { times, within } = { ...(retries || undefined) }
  return {
    times: retries === false ? 0 : (readTimes(times, complain) ?? DEFAULT_TIMES),
    within: readDuration("retries.within", within, complain) ?? DEFAULT_WITHIN,
  }
}

/** Reads options; fails with all that is wrong with them. */
export const readOptions = (
  given: ClientOptions,
): Result.Result<ReadOptions, TocsinClientError<"options">> => {
  const problems: Array<string> = []
  const complain = (problem: string) => void problems.push(problem)
  // JavaScript callers may omit required ones.
  const options: Partial<ClientOptions & { readonly fetch: unknown }> = { ...given }
  for (const problem of unknownOptions("", options, KNOWN)) complain(problem)
  const { fetch } = options
  if (fetch !== undefined && typeof fetch !== "function") complain("fetch must be a function")
  const address = readAddress(options.baseUrl, complain)
  const token = readToken("token", options.token, complain)
  const agentKey = readToken("agentKey", options.agentKey, complain)
  const timeout = readDuration("timeout", options.timeout, complain) ?? DEFAULT_TIMEOUT
  const retries = readRetries(options.retries, complain)
  if (address === undefined || problems.length > 0)
    return Result.fail(new TocsinClientError("options", problems.join("\n")))
  const { href, origin } = address
  return Result.succeed({ baseUrl: href.replace(/\/+$/, ""), origin, token, agentKey, timeout, retries })
}
