import { Context } from "effect"

/** How much one piece of background work takes; the same for all work, so that a test can make pieces small. */
export const PieceSizes = Context.Reference<{
  /** Rows: concurrent ingestion waits for milliseconds, and goes first between pieces. */
  readonly rows: number
  /** Incidents that are evaluated: each is locked with its outbox. */
  readonly incidents: number
}>("@tocsin/core/engine/lists/PieceSizes", { defaultValue: () => ({ rows: 500, incidents: 100 }) })
