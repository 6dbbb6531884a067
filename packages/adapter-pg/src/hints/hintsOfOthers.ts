import { Duration, Effect, type Scope, Stream } from "effect"
import type { PgClient } from "../client/PgClient.ts"
import * as RealTime from "../RealTime.ts"
import { ANNOUNCE_EVERY, CHANNEL } from "./Announcer.ts"

/**
 * An announcement covers the following second, in which its sender may die. After this time
 * everything committed in that second is visible, unless a COMMIT took longer than the difference.
 */
const LOOK_AGAIN_AFTER = Duration.sum(ANNOUNCE_EVERY, Duration.millis(500))

const CONNECT_AGAIN_AFTER = Duration.seconds(1)

const HINT = Stream.make(undefined)

/**
 * The announcements of processes other than `self`, as hints: one immediately, and one more when
 * its sender may announce again. It listens on one connection while there are consumers, and
 * reconnects if that is lost. It emits a hint whenever it starts to listen, since it may have
 * missed announcements.
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
