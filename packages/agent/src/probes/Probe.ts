import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import { isIP, type LookupFunction } from "node:net"
import type { Reader } from "../config/Reader.ts"
import type { Finding } from "./Finding.ts"

/** Which addresses a probe may connect to. */
export interface ProbeTargets {
  /** Of all names: resolves to allowed addresses only. */
  readonly lookup: LookupFunction
  /** Why it must not connect to an IP address; `undefined` if it may. */
  readonly refusalOf: (address: string) => string | undefined
}

/** The surroundings of a probe. */
export interface ProbeAround {
  readonly clock: Clock
  /** Aborted at the deadline and when the agent stops. */
  readonly signal: AbortSignal
  /** Absent in an agent, which may connect to any address and reads whole answers. */
  readonly targets?: ProbeTargets | undefined
  /** The note that the probe left for its next run in its last finding. */
  readonly note?: string | undefined
}

/**
 * The options with which a socket connects to a host, without the brackets of IPv6: a socket looks up
 * names only, so an address is examined here. Other notations of one, such as `127.1`, are names to it.
 */
export const connecting = (host: string, targets: ProbeTargets | undefined) => {
  if (targets === undefined) return {}
  const refusal = isIP(host) === 0 ? undefined : targets.refusalOf(host)
  if (refusal !== undefined) throw new Error(`${host} ${refusal}`)
  return { lookup: targets.lookup }
}

/** A check that the agent itself does. */
export interface Probe<S> {
  readonly title: string
  /** A check that hangs delays others of its lane, and none of another. */
  readonly lane: "network" | "host"
  /** Reads its settings from the configuration. */
  readonly reader: Reader<S>
  /** May throw: then its status is unknown, with the error's words. */
  readonly run: (settings: S, around: ProbeAround) => Promise<Finding>
}

/** The settings that a reader makes. */
export type SettingsOf<R> = R extends Reader<infer A> ? A : never

const MILLIS_PER_SECOND = 1_000

/** Runs a step and says how many seconds it took. */
export const timed = async <A>(clock: Clock, step: () => Promise<A>) => {
  const begun = clock.steady()
  const value = await step()
  return { value, seconds: (clock.steady() - begun) / MILLIS_PER_SECOND }
}

export const secondsText = (seconds: number): string => `${seconds.toFixed(3)} s`
