import { Duration } from "effect"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { ReplicaRecord } from "../model/ReplicaRecord.ts"
import { isNear, REPORT_EVERY } from "./replicaState.ts"

/** How often each replica looks for work that it owns. */
export const LOOK_EVERY = Duration.seconds(5)

/**
 * A replica that has not reported for this long owns nothing: with {@link LOOK_EVERY}, another one takes its work over
 * within 30 s of its death.
 */
const OWNS_FOR = Duration.sum(REPORT_EVERY, Duration.seconds(10))

export const mayOwn = (
  { ended_at, seen_at }: Pick<ReplicaRecord, "ended_at" | "seen_at">,
  now: Instant.Instant,
): boolean => ended_at === undefined && isNear(seen_at, now, OWNS_FOR)

/**
 * The owner of something with a name: the candidate with the highest hash (rendezvous hashing), so that a replica that
 * comes or goes moves nothing between two others.
 */
export const ownerOf = (
  name: string,
  candidates: ReadonlyArray<Pick<ReplicaRecord, "id">>,
  sha256: (text: string) => string,
): string | undefined => {
  const ranked = candidates.map(({ id }) => ({ id, rank: sha256(`${id}/${name}`) }))
  return ranked.toSorted((a, b) => (a.rank > b.rank ? -1 : 1))[0]?.id
}
