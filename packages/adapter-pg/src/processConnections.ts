import { CACHED_GROUPS } from "./groups/GroupCommit.ts"

/** How many groups run at a time on locked rows of agents, unless the options say otherwise. */
export const LANES = 2

/** The most connections of each pool of a process (docs/scaling.md#connections-and-poolers). */
export const POOLS = {
  /** Reads and separate transactions. */
  commands: 10,
  /** All others may wait for a lock. */
  probe: 1,
  /** Listens to other processes. */
  listener: 1,
  clock: 1,
} as const

/**
 * The most connections of the groups: one for each lane of agents and each cached group, one for the
 * outbox, and one to look for due deliveries.
 */
export const groupConnections = (lanes: number): number => lanes + CACHED_GROUPS.groups + 2

/** The most connections that a process opens with the default options. */
export const PROCESS_CONNECTIONS =
  groupConnections(LANES) + Object.values(POOLS).reduce((sum, connections) => sum + connections, 0)
