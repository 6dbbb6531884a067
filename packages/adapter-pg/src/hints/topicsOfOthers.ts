import { ALL_TOPICS, NO_TOPICS, type Topics } from "@tocsin/core/topics/Topics"
import { Duration, Effect, Stream } from "effect"
import type { PgClient } from "../client/PgClient.ts"
import * as RealTime from "../RealTime.ts"
import { TOPICS_CHANNEL, topicsAnnounced } from "./TopicAnnouncer.ts"

const CONNECT_AGAIN_AFTER = Duration.seconds(1)

/**
 * What processes other than `self` announce. Listens on a connection of its own, and reconnects if
 * that is lost. Emits all topics whenever it listens again, since it may have missed some.
 */
export const topicsOfOthers = (pg: PgClient["Service"], self: string): Stream.Stream<Topics> =>
  Stream.suspend(() => {
    let missed = NO_TOPICS
    const listening = Effect.map(pg.listen(TOPICS_CHANNEL), (payloads) =>
      Stream.concat(
        Stream.sync(() => missed),
        Stream.map(payloads, (payload) => topicsAnnounced(payload, self)),
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
          missed = ALL_TOPICS
        }),
      ),
      Stream.concat(Stream.fromEffectDrain(RealTime.pause(CONNECT_AGAIN_AFTER))),
      Stream.forever,
      Stream.filter((topics) => topics !== NO_TOPICS),
    )
  })
