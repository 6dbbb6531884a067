import { Duration, Effect, type Scope, Stream } from "effect"
import type { PgClient } from "../client/PgClient.ts"
import * as RealTime from "../RealTime.ts"
import { ANNOUNCE_EVERY, CHANNEL } from "./Announcer.ts"

/**
 * After an announcement its sender is silent for a second, and may die in it. By then all that it committed meanwhile can
 * be seen, unless a COMMIT took longer than the difference.
 */
const LOOK_AGAIN_AFTER = Duration.sum(ANNOUNCE_EVERY, Duration.millis(500))

const CONNECT_AGAIN_AFTER = Duration.seconds(1)

const HINT = Stream.make(undefined)

/**
 * What other processes than `self` announce, as hints: each at once, and once more when its sender may announce again.
 * Listens on one connection while somebody takes them. Each time that it begins to, it emits a hint, for it may have missed
 * announcements. A connection that is lost is replaced.
 */
export const hintsOfOthers = (
  pg: PgClient["Service"],
  self: string,
): Effect.Effect<Stream.Stream<void>, never, Scope.Scope> =>
  Stream.unwrap(
    Effect.map(pg.listen(CHANNEL), (senders) =>
      Stream.concat(
        HINT,
        Stream.filter(senders, (sender) => sender !== self),
      ),
    ),
  ).pipe(
    Stream.catch((error) =>
      Stream.fromEffectDrain(
        Effect.logDebug("PostgreSQL's notifications are not heard; another try follows", error),
      ),
    ),
    Stream.concat(Stream.fromEffectDrain(RealTime.pause(CONNECT_AGAIN_AFTER))),
    Stream.forever,
    Stream.switchMap(() => Stream.concat(HINT, Stream.fromEffect(Effect.sleep(LOOK_AGAIN_AFTER)))),
    Stream.share({ capacity: 1, strategy: "sliding", replay: 1 }),
  )
