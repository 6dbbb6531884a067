import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import type { Reaction } from "../processes/WebhookReceiver.ts"
import { at, type Fault, reacting, type Setup, type Site } from "./Fault.ts"

/** One server on PostgreSQL behaves as three of them do. */
const SETUPS: ReadonlyArray<Setup> = ["sqlite", "three on postgres"]

const MISBEHAVES = "6 seconds"

/** Has the receiver react in another way for some seconds. */
const misbehaving = (
  name: string,
  cause: string,
  reaction: Reaction,
  seen = "Results are acknowledged as before. Notifications are sent again by the schedule of retries.",
): Fault => ({
  name,
  cause: `${cause}, for 6 s`,
  seen,
  setups: SETUPS,
  rounds: 1,
  prepare: at(
    Effect.fnUntraced(function* (stage) {
      yield* reacting(stage.receiver, () => reaction)
      yield* Effect.sleep(MISBEHAVES)
      yield* stage.isOver
    }),
  ),
})

const PRELOAD = join(import.meta.dirname, "faultyNames.cjs")
const NAME = "receiver.test"

const setAddress = ({ folder }: Pick<Site, "folder">, address: string) =>
  Effect.sync(() => writeFileSync(join(folder, "names"), JSON.stringify({ [NAME]: address })))

/** Faults of receivers and of their names. */
export const receiverFaults: ReadonlyArray<Fault> = [
  misbehaving("receiver hangs", "it takes requests and never answers", "hang"),
  misbehaving("receiver resets", "it resets each connection", "reset"),
  misbehaving("receiver answers nonsense", "it answers with what is no HTTP", "nonsense"),
  misbehaving(
    "receiver drips",
    "it accepts, then sends a byte of its body every 0.5 s",
    "drip",
    "Results are acknowledged as before.",
  ),
  misbehaving(
    "receiver answers 50 MiB",
    "it accepts with a body of 50 MiB",
    "huge",
    "Results are acknowledged as before. The body is not read.",
  ),
  {
    name: "receiver is down",
    cause: "its port refuses connections for 6 s",
    seen: "Notifications are sent again by the schedule of retries.",
    setups: SETUPS,
    rounds: 1,
    prepare: at(
      Effect.fnUntraced(function* ({ isOver, receiver }) {
        yield* receiver.close
        yield* Effect.sleep(MISBEHAVES)
        yield* receiver.open
        yield* isOver
      }),
    ),
  },
  {
    name: "DNS fails and changes",
    cause:
      "the receiver's name is not found, cannot be looked up, and leads to an address where nothing listens; 2 s each",
    seen: "Notifications are sent again by the schedule of retries.",
    setups: SETUPS,
    rounds: 1,
    prepare: Effect.succeed({
      conditions: (site) =>
        Effect.as(setAddress(site, "127.0.0.1"), {
          environment: {
            NODE_OPTIONS: `--require ${PRELOAD}`,
            FAULTY_NAMES: join(site.folder, "names"),
            SERVICE_WEBHOOK_URL: site.receiverUrl.replace("127.0.0.1", NAME),
          },
        }),
      inflict: Effect.fnUntraced(function* ({ isOver, places }) {
        for (const address of ["ENOTFOUND", "EAI_AGAIN", "127.0.0.99", "127.0.0.1"]) {
          yield* Effect.forEach(places, (place) => setAddress(place, address))
          if (address !== "127.0.0.1") yield* Effect.sleep("2 seconds")
        }
        yield* isOver
      }),
    }),
  },
]
