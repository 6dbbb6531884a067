import { isHost, withoutBrackets } from "@tocsin/contract/formats/hosts"
import { openConnection } from "@tocsin/contract/formats/openConnection"
import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import dns from "node:dns"
import net, { type Socket } from "node:net"
import { domainToASCII } from "node:url"
import { afterMillis } from "../clock/Clock.ts"
import { duration, type Reader, refused } from "../config/Reader.ts"
import type { ProbeAround } from "./Probe.ts"

/**
 * A connection to a host. Only names are looked up, so an address is examined here.
 * Other notations of one, such as `127.1`, count as names.
 */
export const connected = async (
  host: string,
  port: number,
  { signal, targets }: Pick<ProbeAround, "signal" | "targets">,
): Promise<Socket> => {
  const refusal = net.isIP(host) === 0 ? undefined : targets?.refusalOf(host)
  if (refusal !== undefined) throw new Error(`${host} ${refusal}`)
  return openConnection(net, { host, port, lookup: targets?.lookup ?? dns.lookup }, signal)
}

/** A host without its port, which is another setting. */
export const host: Reader<string> = (value, place) =>
  typeof value === "string" && isHost(value)
    ? withoutBrackets(value)
    : refused(place, "must be a host name or an address")

/**
 * A name in the one form that it has in TLS, in certificates and to a name server: ASCII, without a dot at its end,
 * and an address without its zone.
 */
export const plainName = (name: string): string =>
  net.isIPv6(name) ? name.replace(/%.*/, "") : (domainToASCII(name) || name.toLowerCase()).replace(/\.$/, "")

/** How long a network probe waits for an answer. */
export const wait = duration({ max: "1d" })
export const WAIT_MILLIS = 10_000

export const MILLIS_PER_SECOND = 1_000

/** Runs a step and says how many seconds it took. */
export const timed = async <A>(clock: Clock, step: () => Promise<A>) => {
  const begun = clock.steady()
  const value = await step()
  return { value, seconds: (clock.steady() - begun) / MILLIS_PER_SECOND }
}

export const secondsText = (seconds: number): string => `${seconds.toFixed(3)} s`

/** Runs a step whose signal also ends it after a time, with an error that says so. */
export const limited = async <A>(
  millis: number,
  { clock, signal }: Pick<ProbeAround, "clock" | "signal">,
  step: (signal: AbortSignal) => Promise<A>,
): Promise<A> => {
  const limit = new AbortController()
  const late = () => limit.abort(new Error(`no answer within ${millis / MILLIS_PER_SECOND} s`))
  const cancelLimit = afterMillis(clock, millis, late)
  const ended = AbortSignal.any([signal, limit.signal])
  try {
    return await step(ended)
  } catch (error) {
    throw ended.aborted ? ended.reason : error
  } finally {
    cancelLimit()
  }
}
