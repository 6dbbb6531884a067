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

const refuse = (message: string): never => {
  throw new TocsinClientError("options", message)
}

const readAddress = (baseUrl: string | URL): URL => {
  const text = String(baseUrl)
  const address = URL.canParse(text) ? new URL(text) : undefined
  if (address === undefined || !/^https?:$/.test(address.protocol))
    return refuse("baseUrl must be an http or https address, such as https://monitoring.example")
  if (address.username !== "" || address.password !== "")
    return refuse("baseUrl must not hold a user or a password: give the token as token")
  if (address.search !== "" || address.hash !== "")
    return refuse("baseUrl must be an address without ? and #: paths are added to it")
  return address
}

const readToken = (name: string, token: string | Redacted.Redacted | undefined) => {
  if (token === undefined) return undefined
  const redacted = Redacted.isRedacted(token) ? token : Redacted.make(token)
  const value: unknown = Redacted.value(redacted)
  return typeof value === "string" && TOKEN.test(value)
    ? redacted
    : refuse(`${name} must be 1 to 512 visible ASCII characters`)
}

const readDuration = (name: string, input: ClientDuration | undefined, fallback: Duration.Duration) => {
  if (input === undefined) return fallback
  const duration = Option.getOrUndefined(Duration.fromInput(input))
  return duration !== undefined && Duration.isPositive(duration)
    ? duration
    : refuse(`${name} must be a time above 0, such as "15 seconds" or a number of milliseconds`)
}

const readTimes = (times: number | undefined): number => {
  if (times === undefined) return DEFAULT_TIMES
  return Number.isSafeInteger(times) && times >= 0
    ? times
    : refuse("retries.times must be a whole number from 0")
}

/** Reads what a client is made of. Throws a {@link TocsinClientError} with code `options` for what it cannot take. */
export const readOptions = (options: ClientOptions): ReadOptions => {
  const { retries = {} } = options
  const address = readAddress(options.baseUrl)
  return {
    baseUrl: address.href.replace(/\/+$/, ""),
    origin: address.origin,
    token: readToken("token", options.token),
    agentKey: readToken("agentKey", options.agentKey),
    timeout: readDuration("timeout", options.timeout, DEFAULT_TIMEOUT),
    retries: {
      times: retries === false ? 0 : readTimes(retries.times),
      within: readDuration("retries.within", retries === false ? undefined : retries.within, DEFAULT_WITHIN),
    },
  }
}
