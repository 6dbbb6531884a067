import type { Storage } from "@tocsin/core/ports/Storage"
import { NO_TOPICS, topicsNamed } from "@tocsin/core/topics/Topics"
import { topicNames } from "@tocsin/contract/Topics"
import { Duration, Effect, type Scope, Stream } from "effect"
import type { PgClient } from "../client/PgClient.ts"
import * as RealTime from "../RealTime.ts"
import { announcedToOthers, CHANNEL, DELIVERIES, ANNOUNCE_EVERY } from "./Announcer.ts"

/**
 * An announcement of deliveries covers the following second, in which its sender may die. After this
 * time everything committed in that second is visible, unless a COMMIT took longer than the difference.
 */
const LOOK_AGAIN_AFTER = Duration.sum(ANNOUNCE_EVERY, Duration.millis(500))

const CONNECT_AGAIN_AFTER = Duration.seconds(1)

const HINT = Stream.make(undefined)

/**
 * The names that processes other than `self` announce. Listens on one connection, and reconnects if
 * that is lost. Names deliveries whenever it starts to listen, and all topics when it listens again,
 * since it may have missed announcements.
 */
const announcedByOthers = (pg: PgClient["Service"], self: string): Stream.Stream<ReadonlyArray<string>> =>
  Stream.suspend(() => {
    let missed: ReadonlyArray<string> = [DELIVERIES]
    const listening = Effect.map(pg.listen(CHANNEL), (payloads) =>
      Stream.concat(
        Stream.sync(() => missed),
        Stream.map(payloads, (payload) => announcedToOthers(payload, self)),
      ),
    )
    return Stream.unwrap(listening).pipe(
      Stream.catch((error) =>
        Stream.fromEffectDrain(
          Effect.logDebug("PostgreSQL's notifications are not heard; another try follows", error),
        ),
      ),
      Stream.ensuring(
        Effect.sync(() => {
          missed = [DELIVERIES, ...topicNames]
        }),
      ),
      Stream.concat(Stream.fromEffectDrain(RealTime.pause(CONNECT_AGAIN_AFTER))),
      Stream.forever,
    )
  })

/**
 * Hints from other processes, on one connection while there are consumers. Deliveries are hinted at
 * twice: immediately, and once more when their sender may announce again.
 */
export const remoteWakeups = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  self: string,
): Effect.fn.Return<Pick<Storage["Service"], "hints" | "remoteChanges">, never, Scope.Scope> {
  // No announcement may be dropped here, as a sliding buffer would: topics name what has changed.
  const announced = yield* Stream.share(announcedByOthers(pg, self), {
    capacity: 64,
    strategy: "suspend",
    replay: 1,
  })
  const hints = announced.pipe(
    Stream.filter((names) => names.includes(DELIVERIES)),
    Stream.switchMap(() => Stream.concat(HINT, Stream.fromEffect(Effect.sleep(LOOK_AGAIN_AFTER)))),
  )
  return {
    hints: yield* Stream.share(hints, { capacity: 1, strategy: "sliding", replay: 1 }),
    remoteChanges: announced.pipe(
      Stream.map(topicsNamed),
      Stream.filter((topics) => topics !== NO_TOPICS),
    ),
  }
})
