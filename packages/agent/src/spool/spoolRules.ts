import { BUSY_IN_DAEMON_MILLIS } from "./openDatabase.ts"
import { SpoolFile } from "./SpoolFile.ts"

/** How much the spool holds before it drops results, oldest first, changes last. */
export interface SpoolBounds {
  readonly bytes: number
  /** Days for which a result waits while the agent runs. */
  readonly ageDays: number
  /** Results in memory while the disk refuses them. */
  readonly inMemory: number
}

/** How a spool is opened. */
export interface SpoolOptions {
  readonly path: string
  readonly bounds?: SpoolBounds
  /** The corrected time. */
  readonly now: () => number
  /** Whether the server's time has corrected it; false unless given. */
  readonly isServerTime?: () => boolean
  readonly warn: (message: string) => void
  /** Tests bring files that fail. */
  readonly openFile?: (path: string) => SpoolFile
}

const MIB = 1_048_576

export const defaultOptions = {
  bounds: { bytes: 100 * MIB, ageDays: 30, inMemory: 1_000 },
  openFile: (path: string) => SpoolFile.open(path, BUSY_IN_DAEMON_MILLIS),
  isServerTime: () => false,
}
