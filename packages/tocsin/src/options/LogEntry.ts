/** One thing that happened, for the log of the program that the monitor is part of. No entry holds a secret of Tocsin's. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error"
  readonly message: string
  /** What more is known, by name. */
  readonly fields: { readonly [name: string]: unknown }
  /** What it was caused by, as text of several lines; absent where nothing failed. */
  readonly cause?: string
  /** When, by the monitor's clock. */
  readonly time: string
}

/** Where log entries go; called as they happen, so it should be quick. */
export type Log = (entry: LogEntry) => void
