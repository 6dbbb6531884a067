import { connect } from "node:net"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { operate } from "../client/call.ts"
import { requestText } from "../client/exchange.ts"
import { itemsOf } from "../client/itemsOf.ts"
import { onStorage } from "../onStorage.ts"
import {
  acceptedAgent,
  agentPath,
  event,
  heartbeat,
  newAgent,
  push,
  type TestAgent,
} from "../client/TestAgent.ts"
import { Tocsin } from "../service/Tocsin.ts"

const BATCHES = 24
const EVENTS = 10
const together = { concurrency: "unbounded" } as const

type Events = ReadonlyArray<Readonly<Record<string, unknown>>>

const batchOf = (number: number): Events =>
  Array.from({ length: EVENTS }, (_, index) =>
    event({ check_id: `b${number}-${index}`, status: "critical", exit_code: 2 }),
  )

/** Sends a whole batch, and closes the connection after a number of turns of the event loop. */
const sendAndVanish = Effect.fnUntraced(function* (
  { agent_id, key }: TestAgent,
  events: Events,
  turns: number,
) {
  const { port } = yield* Tocsin
  const body = JSON.stringify({ agent_id, events })
  const headers = { Authorization: `Bearer ${key}`, "Content-Length": String(body.length) }
  yield* Effect.callback<void>((resume) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => {
      socket.write(requestText("POST /api/v1/events", headers, body), () => wait(turns))
    })
    const wait = (left: number): void => {
      if (left > 0) setImmediate(() => wait(left - 1))
      else socket.resetAndDestroy()
    }
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.void))
    return Effect.sync(() => socket.destroy())
  })
})

const storedOf = (agent: TestAgent) =>
  Effect.map(itemsOf(`/api/v1/events/query?agent_id=${agent.agent_id}&limit=500`), (items) =>
    Array.from(
      { length: BATCHES },
      (_, number) => items.filter((row) => String(row["check_id"]).startsWith(`b${number}-`)).length,
    ),
  )

/** Clients that disconnect, and clients that send the same concurrently. */
export const interruptionSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario("a batch whose sender disconnects is stored whole or not at all, and can be sent again", () =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent()
      const batches = Array.from({ length: BATCHES }, (_, number) => batchOf(number))
      yield* Effect.forEach(batches, (events, turns) => sendAndVanish(agent, events, turns), together)
      for (const stored of yield* storedOf(agent)) assert.include([0, EVENTS], stored)
      for (const events of batches) {
        const { text } = yield* push(agent, ...events)
        assert.include(
          [`{"accepted":${EVENTS},"deduplicated":0}`, `{"accepted":0,"deduplicated":${EVENTS}}`],
          text,
        )
      }
      for (const stored of yield* storedOf(agent)) assert.strictEqual(stored, EVENTS)
      assert.lengthOf(yield* itemsOf("/api/v1/incidents?limit=500"), BATCHES * EVENTS)
      assert.lengthOf(yield* itemsOf("/api/v1/notifiers/outbox?limit=500"), BATCHES * EVENTS)
    }),
  )

  scenario("the same batch from many connections at once counts once", () =>
    Effect.gen(function* () {
      const agent = yield* acceptedAgent()
      const events = batchOf(0)
      const answers = yield* Effect.all(
        Array.from({ length: 16 }, () => push(agent, ...events)),
        together,
      )
      const replies = answers.map(({ body }) => JSON.stringify(body)).toSorted()
      assert.deepStrictEqual(replies, [
        ...Array.from({ length: 15 }, () => JSON.stringify({ accepted: 0, deduplicated: EVENTS })),
        JSON.stringify({ accepted: EVENTS, deduplicated: 0 }),
      ])
      assert.lengthOf(yield* itemsOf("/api/v1/incidents"), EVENTS)
    }),
  )

  scenario("concurrent registrations of one agent register it once", () =>
    Effect.gen(function* () {
      const agent = newAgent()
      const same = yield* Effect.all(
        Array.from({ length: 16 }, () => heartbeat(agent)),
        together,
      )
      for (const answer of same)
        assert.deepStrictEqual([answer.status, answer.body], [202, { accepted: false }])
      const { agent_id } = newAgent()
      const rivals = yield* Effect.all(
        Array.from({ length: 16 }, () => heartbeat({ ...newAgent(), agent_id })),
        together,
      )
      assert.deepStrictEqual(rivals.map(({ status }) => status).toSorted(), [
        202,
        ...Array.from({ length: 15 }, () => 409),
      ])
      const accepts = yield* Effect.all(
        Array.from({ length: 8 }, () => operate("POST", `${agentPath(agent)}/accept`)),
        together,
      )
      const counts = accepts.map(({ text }) => text).toSorted()
      assert.deepStrictEqual(counts, [...Array.from({ length: 7 }, () => '{"count":0}'), '{"count":1}'])
    }),
  )
}
