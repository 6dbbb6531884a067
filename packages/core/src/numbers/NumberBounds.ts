import type { AgentId, CheckId } from "@tocsin/contract/Identifiers"
import { type KnownSeries, PART_KINDS } from "./NumberPart.ts"

/** Which bound a series would exceed, so that it is not kept (docs/rules.md#numbers). */
export type SeriesBound = "check" | "agent" | "all"

/** The most series of a check that have had a value within a day. */
export const MOST_OF_CHECK = 20

/** The most series of a check, those of the last day included: beyond it, others give their places to new ones. */
export const MOST_EVER_OF_CHECK = 60

/** The most series of an agent, of the most of all. */
export const agentBound = (most: number): number => most / 10

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
