import { idlePause } from "@tocsin/core/ports/IdlePause"
import type { Storage } from "@tocsin/core/ports/Storage"
import { ALL_TOPICS, type Topics } from "@tocsin/core/topics/Topics"
import { Duration, Effect, Stream } from "effect"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

/** With the second between two events of a stream, a change is visible within 2 s. */
const POLL_EVERY = Duration.millis(500)

/**
 * All topics after each commit of another process, such as a command beside the server: the file
 * says that there was one, not what it changed. A look reads no page.
 */
const remoteChanges = (connection: SqliteConnection): Stream.Stream<Topics> =>
  Stream.unwrap(
    Effect.sync(() => {
      // A file that cannot be read for a moment may have changed meanwhile.
      const version = Effect.orElseSucceed(
        Effect.try(() => connection.dataVersion()),
        () => undefined,
      )
      let seen: bigint | undefined
      const look = Effect.map(version, (now) => {
        const hasChanged = seen !== undefined && now !== undefined && now !== seen
        seen = now ?? seen
        return hasChanged
      })
      return Stream.fromEffectRepeat(Effect.andThen(idlePause(POLL_EVERY), look)).pipe(
        Stream.filter((hasChanged) => hasChanged),
        Stream.map(() => ALL_TOPICS),
      )
    }),
  )

/** Hints from other processes. */
export const remoteWakeups = (
  connection: SqliteConnection,
): Pick<Storage["Service"], "hints" | "remoteChanges"> => ({
  // One server works on a file. Its next look at what is due finds what a command left.
  hints: Stream.never,
  remoteChanges: remoteChanges(connection),
})
