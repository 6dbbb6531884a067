import type { Clock } from "@tocsin/reporting/agent/ServerTime"
import type { Reader } from "../config/Reader.ts"
import type { Finding } from "./Finding.ts"

/** The surroundings of a probe. */
export interface ProbeAround {
  readonly clock: Clock
  /** Aborted at the deadline and when the agent stops. */
  readonly signal: AbortSignal
}

/** A check that the agent itself does. */
export interface Probe<S> {
  readonly title: string
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
