import { Duration, Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import type { StorageError } from "../../kernel/ports/Storage.ts"
import { readRow } from "../../kernel/unitOfWork/Decision.ts"

/** Some agents change their labels all the time: passes over all checks follow them no more often than this. */
const FOLLOW_EVERY = Duration.minutes(5)

/** The stamp of the hostnames and labels that passes follow. */
export type FollowedLabels = Effect.Effect<string, StorageError>

/** Follows a change of hostnames and labels at once, and further ones in time. */
export const followLabels = ({ transact }: Pick<Commits["Service"], "transact">): FollowedLabels => {
  let followed: { readonly stamp: string; readonly changedAt: Instant.Instant | undefined } | undefined
  return Effect.gen(function* () {
    const now = yield* Instant.now
    if (followed?.changedAt !== undefined && Instant.isRecent(followed.changedAt, FOLLOW_EVERY, now))
      return followed.stamp
    const { stamp = "" } = (yield* transact(readRow("change_stamp", "labels"))) ?? {}
    if (followed?.stamp !== stamp) followed = { stamp, changedAt: followed && now }
    return stamp
  })
}
