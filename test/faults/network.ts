import { Effect, Redacted } from "effect"
import {
  type Connection,
  type Interceptor,
  type Message,
  throughProtocol,
} from "../postgres/throughProtocol.ts"
import { seeded } from "../processes/seeded.ts"
import type { Fault, Setup } from "./Fault.ts"

const SETUPS: ReadonlyArray<Setup> = ["postgres", "three on postgres"]

/** The trouble on the way to PostgreSQL while the fault lasts. */
export interface Trouble {
  readonly isOn: () => boolean
  /** From 0 up to 1. */
  readonly random: () => number
}

/** Has the servers reach PostgreSQL by a proxy, which makes trouble for some seconds. */
const lasting = (
  seconds: number,
  intercept: (trouble: Trouble) => (connection: Connection) => Interceptor,
): Fault["prepare"] =>
  Effect.sync(() => {
    let isOn = false
    const random = seeded(1)
    return {
      conditions: ({ databaseUrl = "" }) =>
        Effect.map(
          throughProtocol(Redacted.make(databaseUrl), intercept({ isOn: () => isOn, random })),
          (url) => ({ environment: { DATABASE_URL: Redacted.value(url) } }),
        ),
      inflict: Effect.fnUntraced(function* ({ isOver }) {
        isOn = true
        yield* Effect.sleep(`${seconds} seconds`)
        isOn = false
        yield* isOver
      }),
    }
  })

const HEADER_BYTES = 5

/** The texts at the start of a message: of Parse the statement and its text, of Bind the portal and the statement. */
const textsOf = ({ bytes }: Message): ReadonlyArray<string> =>
  bytes.subarray(HEADER_BYTES).toString("latin1").split("\0", 2)

/** Has PostgreSQL itself fail, in the transaction that is open. */
const raising = (code: string): Buffer => {
  const text = `DO $$ BEGIN RAISE EXCEPTION 'by a proxy' USING ERRCODE = '${code}'; END $$\0`
  const message = Buffer.alloc(HEADER_BYTES + text.length)
  message.write("Q")
  message.writeUInt32BE(HEADER_BYTES - 1 + text.length, 1)
  message.write(text, HEADER_BYTES)
  return message
}

const CONFLICT_RATE = 0.1

/** In place of a statement, PostgreSQL raises an error. Those that begin and end transactions are spared. */
export const conflicts =
  (code: string) =>
  ({ isOn, random }: Trouble) =>
  (): Interceptor => {
    const spared = new Map<string, boolean>()
    let isReplaced = false
    return {
      fromClient: (message) => {
        const [first = "", second = ""] = textsOf(message)
        if (isReplaced) {
          isReplaced = message.type !== "S"
          return []
        }
        if (message.type === "P") spared.set(first, /^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)/.test(second))
        if (message.type !== "B" || spared.get(second) !== false || !isOn() || random() > CONFLICT_RATE)
          return [message.bytes]
        isReplaced = true
        return [raising(code)]
      },
    }
  }

const LOSS_RATE = 0.3

/** The end of a connection takes the place of an answer to COMMIT. */
export const lostCommits =
  ({ isOn, random }: Trouble) =>
  ({ cut }: Connection): Interceptor => ({
    fromServer: ({ bytes, type }) => {
      if (type !== "C" || !bytes.includes("COMMIT\0") || !isOn() || random() > LOSS_RATE) return [bytes]
      cut()
      return []
    },
  })

/** A connection that has lost a message stays silent. */
const blackHole =
  ({ isOn }: Trouble) =>
  (): Interceptor => {
    let isSilent = false
    const swallow = ({ bytes }: Message) => {
      isSilent ||= isOn()
      return isSilent ? [] : [bytes]
    }
    return { fromClient: swallow, fromServer: swallow }
  }

const ONE_WAY_MILLIS = 50

const latency =
  () =>
  ({ toClient, toServer }: Connection): Interceptor => {
    const late =
      (send: (bytes: Buffer) => void) =>
      ({ bytes }: Message) => {
        setTimeout(() => send(bytes), ONE_WAY_MILLIS)
        return []
      }
    return { fromClient: late(toServer), fromServer: late(toClient) }
  }

const oneByteEach =
  ({ isOn }: Trouble) =>
  (): Interceptor => {
    const split = ({ bytes }: Message) => (isOn() ? Array.from(bytes, (byte) => Buffer.of(byte)) : [bytes])
    return { fromClient: split, fromServer: split }
  }

const MOST_BYTES = 20_000

const cutAnywhere =
  ({ isOn, random }: Trouble) =>
  ({ cut }: Connection): Interceptor => {
    let left = Math.floor(random() * MOST_BYTES)
    return {
      fromServer: ({ bytes }) => {
        if (!isOn()) return [bytes]
        left -= bytes.length
        if (left >= 0) return [bytes]
        cut(bytes.subarray(0, bytes.length + left))
        return []
      },
    }
  }

const REPEATED = "Tocsin repeats the transaction. Requests take longer; few are answered with 500."
const REFUSED = "Requests are answered with 500 and `Retry-After`, and `/ready` with 503."

/** Faults between the servers and PostgreSQL. */
export const networkFaults: ReadonlyArray<Fault> = [
  {
    name: "serialization failures (40001)",
    cause: "a proxy has PostgreSQL raise 40001 in place of a tenth of all statements, for 3 s",
    seen: REPEATED,
    setups: SETUPS,
    rounds: 3,
    prepare: lasting(3, conflicts("40001")),
  },
  {
    name: "deadlocks (40P01)",
    cause: "the same with 40P01",
    seen: REPEATED,
    setups: SETUPS,
    rounds: 3,
    prepare: lasting(3, conflicts("40P01")),
  },
  {
    name: "answers to COMMIT lost",
    cause: "a proxy closes the connection in place of three tenths of the answers to COMMIT, for 5 s",
    seen: "Tocsin looks up whether the transaction was committed, and answers rightly.",
    setups: SETUPS,
    rounds: 3,
    prepare: lasting(5, lostCommits),
  },
  {
    name: "black hole",
    cause:
      "packets between the servers and PostgreSQL vanish for 10 s; the connections of that time stay silent",
    seen: REFUSED,
    setups: SETUPS,
    rounds: 2,
    prepare: lasting(10, blackHole),
  },
  {
    name: "latency of 100 ms",
    cause: "each packet to and from PostgreSQL takes 50 ms, all the time",
    seen: "Requests take some tenths of a second longer.",
    setups: SETUPS,
    rounds: 2,
    prepare: lasting(3, latency),
  },
  {
    name: "packets of one byte",
    cause: "each byte to and from PostgreSQL comes alone, for 3 s",
    seen: "Nothing.",
    setups: SETUPS,
    rounds: 2,
    prepare: lasting(3, oneByteEach),
  },
  {
    name: "connections cut at any byte",
    cause: "each connection ends within 20 kB of answers, at an arbitrary byte, for 5 s",
    seen: "Requests under way are repeated by Tocsin, or answered with 500.",
    setups: SETUPS,
    rounds: 3,
    prepare: lasting(5, cutAnywhere),
  },
]
