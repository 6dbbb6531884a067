import { Duration, Effect } from "effect"
import type { RuleOptions } from "../../ports/RuleSettings.ts"
import type { Storage, StorageError } from "../../ports/Storage.ts"
import type { PieceSizes } from "../lists/readPage.ts"
import type { Commits } from "./Commits.ts"
import { keepRepeating } from "./keepRepeating.ts"

/** One kind of background work, in bounded pieces. Safe with several replicas. */
export interface Chore {
  readonly name: string
  readonly pause: Effect.Effect<void>
  /** Returns whether there is more, and is then repeated soon. */
  readonly piece: Effect.Effect<boolean, StorageError>
}

/** Common to the chores of all subjects. */
export interface ChoreServices {
  readonly storage: Storage["Service"]
  readonly commits: Commits["Service"]
  readonly rules: RuleOptions
  readonly pieces: typeof PieceSizes.Service
}

const BETWEEN_PIECES = Duration.millis(20)

/** A full piece suggests that there is more. */
export const isWhole =
  (limit: number) =>
  (count: number): boolean =>
    count >= limit

/** Does a chore again and again. Failures and bugs are logged, and do not end it. */
export const repeatChore = ({ name, pause, piece }: Chore): Effect.Effect<never> =>
  keepRepeating(
    Effect.flatMap(piece, (isMore) => (isMore ? Effect.sleep(BETWEEN_PIECES) : pause)),
    `${name} failed; Tocsin will retry`,
    pause,
  )
