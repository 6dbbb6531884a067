import { Effect } from "effect"
import type { Instant } from "@tocsin/contract/formats/Instant"
import {
  type RemovedRows,
  type RetentionFacts,
  type RetentionName,
  type RetentionRule,
  RetentionRules,
  type Verdict,
} from "./RetentionRules.ts"

/** One transaction of retention, which reads and removes at most `limit` rows. */
export interface RetentionPiece {
  readonly rule: RetentionName
  /** Rows older than this expire. */
  readonly before: Instant
  /** Where the previous piece ended; absent at the start. */
  readonly after: string | undefined
  readonly limit: number
}

/** The result of a piece. `after` is where the next one starts. */
export interface RetentionResult {
  /** Rows removed from all tables. */
  readonly removed: number
  readonly after: string | undefined
  readonly isMore: boolean
}

/** How a storage answers: with a value, or with an effect. */
interface Answers<A, E> {
  readonly now: A
  readonly effect: Effect.Effect<A, E>
}
type Way = keyof Answers<unknown, unknown>

/** A storage's part of retention, one transaction per piece. It decides nothing. */
export interface RetentionTables<W extends Way, E = never> {
  /**
   * Finds at most `limit` rows for a rule. For `outbox` and `incidents`: those after `after` by ID.
   * For `history`: those received before the bound and not set aside. A storage may leave out rows
   * that stay.
   */
  readonly look: {
    readonly [Name in RetentionName]: (
      piece: RetentionPiece,
    ) => Answers<ReadonlyArray<RetentionFacts[Name]>, E>[W]
  }
  /** Hides these results from later looks until a newer result of their check is stored. */
  readonly quarantine: (keys: ReadonlyArray<string>) => Answers<void, E>[W]
  /** Removes at most `limit` rows that belong to these keys, and returns how many. */
  readonly remove: (rows: RemovedRows, keys: ReadonlyArray<string>, limit: number) => Answers<number, E>[W]
}

type Steps<W extends Way, E, A> = Generator<Answers<unknown, E>[W], A, unknown>

function* answered<W extends Way, E, A>(answer: Answers<A, E>[W]): Steps<W, E, A> {
  // The runner returns the value of each answer.
  return (yield answer) as A
}

function* pieceOf<Name extends RetentionName, W extends Way, E>(
  name: Name,
  tables: RetentionTables<W, E>,
  piece: RetentionPiece,
): Steps<W, E, RetentionResult> {
  const rule: RetentionRule<Name> = RetentionRules[name]
  const found = yield* answered<W, E, ReadonlyArray<RetentionFacts[Name]>>(tables.look[name](piece))
  const judged = found.map((row) => ({ key: row.key, verdict: rule.judge(row, piece.before) }))
  const keysOf = (verdict: Verdict) => judged.flatMap((row) => (row.verdict === verdict ? row.key : []))
  const staying = keysOf("stays")
  if (rule.setsAside && staying.length > 0) yield* answered<W, E, void>(tables.quarantine(staying))
  const expired = keysOf("expired")
  let left = piece.limit
  if (expired.length > 0) {
    for (const rows of rule.removes) {
      if (left > 0) left -= yield* answered<W, E, number>(tables.remove(rows, expired, left))
    }
  }
  // Expired rows may be left; the next piece reads them again.
  if (left === 0) return { removed: piece.limit, after: piece.after, isMore: true }
  const isMore = found.length === piece.limit && judged.at(-1)?.verdict !== "too_young"
  return { removed: piece.limit - left, after: isMore ? judged.at(-1)?.key : undefined, isMore }
}

/** Runs a piece on a storage that answers with values. */
export const expireNow = (tables: RetentionTables<"now">, piece: RetentionPiece): RetentionResult => {
  const steps = pieceOf(piece.rule, tables, piece)
  let step = steps.next()
  while (step.done !== true) step = steps.next(step.value)
  return step.value
}

/** Runs a piece on a storage that answers with effects, in a transaction of the caller. */
export const expireEffect = Effect.fnUntraced(function* <E>(
  tables: RetentionTables<"effect", E>,
  piece: RetentionPiece,
): Effect.fn.Return<RetentionResult, E> {
  const steps = pieceOf(piece.rule, tables, piece)
  let step = steps.next()
  while (step.done !== true) step = steps.next(yield* step.value)
  return step.value
})
