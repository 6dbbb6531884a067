import { Storage, StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"

/** What can be wrong with a client's way to its storage. All can be set at any time. */
export interface Faults {
  /** Nothing gets through, in either direction. */
  isAway: boolean
  /** Nothing can be changed. */
  isReadOnly: boolean
  /** Each command is kept, and its caller is told that it failed. */
  losesReplies: boolean
  /** Each call runs into a mistake in the storage. */
  throws: boolean
  /** How long a command is on its way there; the next one takes the next of these, over and over. */
  latencies: ReadonlyArray<number>
  /** How often the service's sign of life was read. */
  marksRead: number
}

const away = new StorageError({ reason: "unavailable", message: "the storage is away for a test" })
const full = new StorageError({ reason: "full", message: "the disk is full for a test" })
const lost = new StorageError({ reason: "timed_out", message: "the reply was lost for a test" })

/** A storage behind faults. */
export const faultyStorage = (
  storage: Storage["Service"],
): { readonly storage: Storage["Service"]; readonly faults: Faults } => {
  const faults: Faults = {
    isAway: false,
    isReadOnly: false,
    losesReplies: false,
    throws: false,
    latencies: [],
    marksRead: 0,
  }
  let taken = 0
  const onTheWay = Effect.suspend(() => {
    const millis = faults.latencies[taken % faults.latencies.length] ?? 0
    taken += 1
    return millis === 0 ? Effect.void : Effect.sleep(millis)
  })
  const ifThere = Effect.suspend(() => {
    if (faults.throws) return Effect.die(new Error("a storage with a mistake in it"))
    return faults.isAway ? Effect.fail(away) : Effect.void
  })
  const reach = <A>(effect: Effect.Effect<A, StorageError>) =>
    onTheWay.pipe(Effect.andThen(ifThere), Effect.andThen(effect))
  return {
    faults,
    storage: Storage.of({
      ...storage,
      transact: (command) =>
        Effect.flatMap(
          reach(Effect.suspend(() => (faults.isReadOnly ? Effect.fail(full) : storage.transact(command)))),
          (reply) => (faults.losesReplies ? Effect.fail(lost) : Effect.succeed(reply)),
        ),
      untilNextDue: (notifiers, now) => reach(storage.untilNextDue(notifiers, now)),
      expire: (piece) => reach(storage.expire(piece)),
      mark: Effect.suspend(() => {
        faults.marksRead += 1
        return reach(storage.mark)
      }),
    }),
  }
}
