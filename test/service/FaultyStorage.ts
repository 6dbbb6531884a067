import { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { type Duration, Effect } from "effect"

/** The faults between one process and its storage. A test can change each field at any time. */
export interface Faults {
  /** Nothing gets through, in either direction. */
  isUnreachable: boolean
  /** Every write is refused. */
  isReadOnly: boolean
  /** Each command commits, and its caller gets an error. */
  losesReplies: boolean
  /** Each call throws. */
  throws: boolean
  /** Numbers cannot be read or written, and results can. */
  refusesNumbers: boolean
  /** How long the commands take to arrive, in turn, starting over after the last. */
  latencies: ReadonlyArray<number>
  /** How often the service heartbeat was read. */
  serviceHeartbeatsRead: number
  /** Of how many members each read of last results asked, and how long each takes. */
  lastResultsRead: Array<number>
  lastResultsTake: Duration.Input
  failsLastResults: boolean
}

const unreachable = new StorageError({ reason: "unavailable", message: "unreachable for a test" })
const full = new StorageError({ reason: "full", message: "the disk is full for a test" })
const lost = new StorageError({ reason: "timed_out", message: "the reply was lost for a test" })

/** A storage behind faults. */
export const faultyStorage = (
  storage: Storage["Service"],
): { readonly storage: Storage["Service"]; readonly faults: Faults } => {
  const faults: Faults = {
    isUnreachable: false,
    isReadOnly: false,
    losesReplies: false,
    throws: false,
    refusesNumbers: false,
    latencies: [],
    serviceHeartbeatsRead: 0,
    lastResultsRead: [],
    lastResultsTake: 0,
    failsLastResults: false,
  }
  let commands = 0
  const transfer = Effect.suspend(() => {
    const millis = faults.latencies[commands % faults.latencies.length] ?? 0
    commands += 1
    return millis === 0 ? Effect.void : Effect.sleep(millis)
  })
  const arrive = Effect.suspend(() => {
    if (faults.throws) return Effect.die(new Error("a defect in the storage, for a test"))
    return faults.isUnreachable ? Effect.fail(unreachable) : Effect.void
  })
  const reach = <A>(effect: Effect.Effect<A, StorageError>) =>
    transfer.pipe(Effect.andThen(arrive), Effect.andThen(effect))
  const { numbers } = storage
  return {
    faults,
    storage: Storage.of({
      ...storage,
      transact: (command) =>
        Effect.flatMap(
          reach(Effect.suspend(() => (faults.isReadOnly ? Effect.fail(full) : storage.transact(command)))),
          (reply) => (faults.losesReplies ? Effect.fail(lost) : Effect.succeed(reply)),
        ),
      numbers: numbers && {
        ...numbers,
        series: (of) =>
          Effect.suspend(() => (faults.refusesNumbers ? Effect.fail(full) : numbers.series(of))),
        write: (server, parts) =>
          reach(
            Effect.suspend(() => (faults.refusesNumbers ? Effect.fail(full) : numbers.write(server, parts))),
          ),
      },
      lastResults: (members) => {
        faults.lastResultsRead.push(members.length)
        if (faults.failsLastResults) return Effect.fail(full)
        const take = faults.lastResultsTake === 0 ? Effect.void : Effect.sleep(faults.lastResultsTake)
        return Effect.andThen(take, storage.lastResults(members))
      },
      untilNextDue: (receivers, now) => reach(storage.untilNextDue(receivers, now)),
      expire: (piece) => reach(storage.expire(piece)),
      serviceHeartbeat: Effect.suspend(() => {
        faults.serviceHeartbeatsRead += 1
        return reach(storage.serviceHeartbeat)
      }),
    }),
  }
}
