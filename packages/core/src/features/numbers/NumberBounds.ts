import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { nameKey, PART_KINDS } from "./NumberPart.ts"
import type { KnownSeries } from "../../kernel/ports/NumberStorage.ts"
import type { Reading } from "./readings.ts"

/** Which bound a series would exceed, so that it is not kept (docs/rules.md#numbers). */
export type SeriesBound = "check" | "agent" | "all"

/** The most series of a check that have had a value within a day. */
export const MOST_OF_CHECK = 20

/** The most series of a check, those of the last day included: beyond it, others give their places to new ones. */
export const MOST_EVER_OF_CHECK = 60

/** The most series of an agent, of the most of all. */
export const agentBound = (most: number): number => most / 10

/** In a name: what changes from run to run, such as the number of a process, the hash of a pod or the ID of a container. */
const CHANGING =
  /(?<![a-z\d])(?=[a-f]*\d)[\da-f]{6,}(?![g-z])|\d[\da-f]*|(?<=-)(?:[\da-z]*\d[\da-z]*|(?!https)[b-df-hj-np-tv-xz]{5}(?![\da-z]))/giu

/** A name with stars for what changes from run to run. */
export const patternOfName = (name: string): string => name.replaceAll(CHANGING, "*")

const isFull = (series: ReadonlyArray<KnownSeries>, now: number): boolean =>
  series.filter(({ newest }) => now - newest < PART_KINDS.day.length).length >= MOST_OF_CHECK

/** The numbers that an output states and that are not kept: a counter is no series before its second value. */
export const notKept = (
  stated: ReadonlyArray<Reading>,
  series: ReadonlyArray<KnownSeries>,
  now: number,
): ReadonlyArray<Reading> => {
  const kept = new Set(series.map(nameKey))
  return stated.filter((one) => !kept.has(nameKey(one)) && (isFull(series, now) || !one.isCounter))
}

/** Why numbers of a check are not kept. */
export const boundReached = (
  agent_id: AgentId,
  {
    all,
    most,
    now,
    series,
  }: {
    readonly series: ReadonlyArray<KnownSeries>
    readonly all: ReadonlyArray<KnownSeries>
    readonly most: number
    readonly now: number
  },
): SeriesBound | "not_yet" => {
  if (isFull(series, now)) return "check"
  if (all.length >= most) return "all"
  return all.filter((one) => one.agent_id === agent_id).length >= agentBound(most) ? "agent" : "not_yet"
}

/** Agents and checks that have as many series as are allowed, so that further ones are not kept. */
export interface ReachedBounds {
  readonly all: boolean
  readonly agents: ReadonlyArray<AgentId>
  readonly checks: ReadonlyArray<readonly [AgentId, CheckId]>
}

/** The bounds that stored series have reached. */
export const reachedBounds = (
  series: ReadonlyArray<KnownSeries>,
  { most, now }: { readonly most: number; readonly now: number },
): ReachedBounds => {
  const agents = Map.groupBy(series, ({ agent_id }) => agent_id)
  const { length: day } = PART_KINDS.day
  const present = series.filter(({ newest }) => now - newest < day)
  const checks = Map.groupBy(present, ({ check_id, registration_id }) => `${registration_id} ${check_id}`)
  return {
    all: series.length >= most,
    agents: Array.from(agents).flatMap(([agent, { length }]) => (length >= agentBound(most) ? [agent] : [])),
    checks: Array.from(checks.values()).flatMap(([first, ...others]) =>
      first === undefined || others.length + 1 < MOST_OF_CHECK
        ? []
        : [[first.agent_id, first.check_id] as const],
    ),
  }
}
