/** Names what keeps a firing waiting (docs/rules.md#holds). */
export type HoldName =
  | "ack"
  | "after"
  | "clock"
  | "notifications_off"
  | "not_owed"
  | "outage"
  | "parent_grace"
  | "quiet"
  | `parent:${string}`
  | `silence:${string}`
  | `window:${string}`

/** A hold as the row of a firing keeps it. Times are microseconds. */
export interface StoredHold {
  readonly by: HoldName
  /** Absent where a change ends it. */
  readonly until?: number
  /**
   * Of a parent: when the last one ended for the first time. From then on, parents hold a bounded time. Of an
   * acknowledgement, where it holds a retry: when it began.
   */
  readonly since?: number
  /** Of an acknowledgement that held a retry and has ended: the end of the last attempt. */
  readonly attempted?: number
  /** It has ended. With `until`, it is a parent whose child recovers until then; without, it is remembered. */
  readonly hasEnded?: true
  /** Something was due under it: its end begins later steps again. */
  readonly wasDue?: true
}
