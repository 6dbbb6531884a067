import { unknownOptions } from "@tocsin/core/contract/nearestName"
import { Duration, Option, Redacted } from "effect"
import { TocsinClientError } from "../TocsinClientError.ts"
import type { ClientDuration, ClientOptions } from "./ClientOptions.ts"

/** {@link ClientOptions}, read and with their defaults. */
export interface ReadOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string
  /** What is shown of it. */
  readonly origin: string
  readonly token: Redacted.Redacted | undefined
  readonly agentKey: Redacted.Redacted | undefined
  readonly timeout: Duration.Duration
  readonly retries: { readonly times: number; readonly within: Duration.Duration }
}

const DEFAULT_TIMEOUT = Duration.seconds(15)
const DEFAULT_TIMES = 5
const DEFAULT_WITHIN = Duration.minutes(1)

// What the service takes for a bearer token. Anything else fetch would refuse by an error that repeats it.
const TOKEN = /^[\x21-\x7e]{1,512}$/

const KNOWN = ["baseUrl", "token", "agentKey", "timeout", "retries", "fetch"]
const KNOWN_OF_RETRIES = ["times", "within"]

/** Notes what is wrong, and gives what counts until all of it is refused. */
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

/** Reads what a client is made of. Throws a {@link TocsinClientError} with code `options` that tells all it cannot take. */
export const readOptions = (given: ClientOptions): ReadOptions => {
  const problems: Array<string> = []
  const complain = (problem: string) => void problems.push(problem)
  // Plain JavaScript can leave them away.
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
    throw new TocsinClientError("options", problems.join("\n"))
  const { href, origin } = address
  return { baseUrl: href.replace(/\/+$/, ""), origin, token, agentKey, timeout, retries }
}
