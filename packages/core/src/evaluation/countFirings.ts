import { Effect } from "effect"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { FiringCount } from "@tocsin/contract/Policies"
import type { NotifierName } from "@tocsin/contract/Status"
import type { Commits } from "../engine/commits/Commits.ts"
import { eachPage, OPEN_INCIDENTS } from "../engine/lists/readPage.ts"
import type { FiringOptions } from "../firings/gatherFacts.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"
import { previewEvaluation } from "./evaluateIncidents.ts"

/** A policy that would send more firings than this to one receiver immediately must be confirmed. */
export const MOST_UNCONFIRMED = 100

/** Counts firings by receiver. */
export class FiringTally {
  readonly #counts = new Map<NotifierName, number>()

  add(due: ReadonlyArray<NotifierName>): void {
    for (const receiver of due) this.#counts.set(receiver, (this.#counts.get(receiver) ?? 0) + 1)
  }

  /** The most first. */
  get counts(): ReadonlyArray<FiringCount> {
    return Array.from(this.#counts, ([receiver, count]) => ({ receiver, count })).toSorted(
      (a, b) => b.count - a.count || (a.receiver < b.receiver ? -1 : 1),
    )
  }

  get text(): string {
    return this.counts.map(({ count, receiver }) => `${receiver} ${count}`).join(", ")
  }
}

/**
 * Counts the firings that each receiver would get immediately under a policy, by the evaluations of all open
 * incidents (docs/rules.md#evaluation), in bounded pieces. Writes nothing.
 */
export const countFirings = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { transact }: Pick<Commits["Service"], "transact">,
  options: FiringOptions,
): Effect.fn.Return<ReadonlyArray<FiringCount>, StorageError> {
  const tally = new FiringTally()
  yield* eachPage(
    storage,
    OPEN_INCIDENTS,
    Effect.fnUntraced(function* (rows) {
      let left: ReadonlyArray<IncidentId> = rows.map(({ id }) => id)
      while (left.length > 0) {
        const piece = yield* transact(previewEvaluation(options, left))
        tally.add(piece.due)
        left = piece.left
        yield* Effect.yieldNow
      }
    }),
  )
  return tally.counts
})
