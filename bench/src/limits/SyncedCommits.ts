/**
 * Asks for commits of one row each to a SQLite database in this folder, one after the other, for so
 * long.
 */
export interface SyncedCommits {
  readonly folder: string
  readonly seconds: number
}

/** How long they took. */
export interface CommitTimes {
  readonly commits: number
  readonly p50Millis: number
  readonly p99Millis: number
}
