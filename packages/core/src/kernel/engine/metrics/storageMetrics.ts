import { StorageFailure } from "../../ports/Storage.ts"
import { counter, gauge, histogram } from "./Counters.ts"

/** A disk's sync takes 0.1 ms to tens of milliseconds; a remote database takes longer. */
export const COMMIT_SECONDS = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]
const GROUP_COMMANDS = [1, 2, 4, 8, 16, 32, 64, 128, 256]

export const storageMetrics = {
  storageUp: gauge("tocsin_storage_up", "Whether the storage answers and takes writes: 1 or 0"),
  storageFailures: counter(
    "tocsin_storage_failures_total",
    "Commands that the storage failed to execute, by reason",
    ["reason"],
    StorageFailure.literals,
  ),
  groupSize: histogram("tocsin_commit_group_size", "Commands in one commit", GROUP_COMMANDS, [
    "storage",
    "path",
  ]),
  commitDuration: histogram(
    "tocsin_commit_duration_seconds",
    "Time from the start of a group's transaction until it is durable",
    COMMIT_SECONDS,
    ["storage", "path"],
  ),
  groupFailures: counter(
    "tocsin_commit_failures_total",
    "Groups of commands that were rolled back; each command is then retried, alone or in another group",
    ["storage", "path"],
  ),
  cacheLookups: counter(
    "tocsin_row_cache_lookups_total",
    "Row cache lookups: found (hit), absent (miss), or found but changed meanwhile by another process (stale)",
    ["storage", "result"],
  ),
  agentsPassedOver: counter(
    "tocsin_agents_skipped_locked_total",
    "Agents that a bulk task skipped because their rows stayed locked for longer than a second",
    ["work"],
    ["accept_all", "block_all", "dead_agents", "history", "remove_all"],
  ),
}
