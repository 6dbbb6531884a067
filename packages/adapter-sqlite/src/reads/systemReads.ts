import type { AgentId } from "@tocsin/core/contract/Identifiers"
import * as Instant from "@tocsin/core/contract/Instant"
import {
  bySeen,
  makePass,
  type Pass,
  QUIET_KEPT,
  type SilenceScanReads,
  type Seen,
} from "@tocsin/core/liveness/SilenceScan"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import type { Tables } from "../rows/Tables.ts"

/** Runs a read on the connection, waiting where another process has locked the file. */
type Read = <A>(use: () => A) => Effect.Effect<A, StorageError>

interface ReadOptions {
  readonly tables: Tables
  readonly read: Read
  /** Runs several reads so that they see one moment. */
  readonly snapshot: <A>(use: () => A) => A
}

/** How SQLite reads what the summary and the sweep for silent agents are made of. */
export const systemReads = ({ tables, read, snapshot }: ReadOptions): SilenceScanReads<StorageError> => ({
  acceptances: read(() => tables.totals.find().acceptances),
  pass: (bound) => pass(tables, read, bound),
  silent: (among, seenBefore, limit) => read(() => tables.totals.silent(among, seenBefore, limit)),
  look: (among, seenBefore) => read(() => snapshot(() => tables.totals.look(among, seenBefore))),
  lookAtAll: (aliveSince) => read(() => snapshot(() => tables.totals.lookAtAll(aliveSince))),
})

/** A step at a time: between two of them others are answered. */
const pass = Effect.fnUntraced(function* (
  tables: Tables,
  read: Read,
  bound: Instant.Instant,
): Effect.fn.Return<Pass, StorageError> {
  let quiet: ReadonlyArray<Seen> = []
  let deadSeenAt: Instant.Instant | undefined
  let kept = bound
  let after: AgentId | undefined
  do {
    const { dead, next, ...found } = yield* read(() => tables.totals.step(after, kept))
    quiet = [...quiet, ...found.quiet]
    if (quiet.length > 2 * QUIET_KEPT) {
      // One more than is remembered tells that there were more.
      quiet = quiet.toSorted(bySeen).slice(0, QUIET_KEPT + 1)
      kept = quiet.at(-1)?.last_seen_at ?? kept
    }
    for (const { last_seen_at } of dead) deadSeenAt = Instant.max(deadSeenAt ?? last_seen_at, last_seen_at)
    after = next
    if (next !== undefined) yield* Effect.yieldNow
  } while (after !== undefined)
  return makePass(quiet, { bound, deadSeenAt })
})
