import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { agentNames, enroll, eventOf, register, send } from "@tocsin/testing/samples"
import { openReplica, type Replica } from "@tocsin/testing/Replica"
import { rowsOf } from "@tocsin/testing/rowsOf"
import { Effect, Fiber, Layer } from "effect"

/** More than one transaction takes, and no more than a batch. */
const MANY = 450
const BATCH = 150

/** A process whose callers are interrupted after each transaction, as when their clients hang up. */
const openImpatient = Effect.gen(function* () {
  const clients = { areImpatient: false }
  const client = Layer.effect(
    Storage,
    Effect.map(Storage, (storage) =>
      Storage.of({
        ...storage,
        transact: (command) =>
          Effect.withFiber((caller) =>
            Effect.map(storage.transact(command), (reply) => {
              if (clients.areImpatient) caller.interruptUnsafe()
              return reply
            }),
          ),
      }),
    ),
  ).pipe(Layer.provide(MemoryStorage.layer))
  const replica = yield* openReplica({ name: "memory", place: Layer.empty, client })
  const impatiently = (act: (admission: Replica["admission"]) => Effect.Effect<unknown, unknown>) =>
    Effect.gen(function* () {
      clients.areImpatient = true
      yield* Fiber.await(yield* Effect.forkChild(act(replica.admission)))
      clients.areImpatient = false
    })
  return { replica, impatiently }
})

const BIG = AgentId.make("big")

describe("an act of several transactions is finished though its client hangs up", () => {
  it.effect.each(["remove", "block"] as const)("%s, of an agent with many failing checks", (act) =>
    Effect.gen(function* () {
      const { impatiently, replica } = yield* openImpatient
      yield* enroll(replica, BIG)
      for (let from = 0; from < MANY; from += BATCH)
        yield* send(
          replica,
          BIG,
          Array.from({ length: BATCH }, (_, n) => eventOf(from + n, { check_id: `check-${from + n}` })),
        )
      yield* impatiently((admission) => admission[act](BIG))
      assert.deepStrictEqual(yield* rowsOf(replica, "agents"), [])
      const incidents = yield* rowsOf(replica, "incidents")
      assert.strictEqual(incidents.filter(({ state }) => state === "resolved").length, MANY)
    }),
  )

  it.effect("the acts on all pending agents and all blocked keys", () =>
    Effect.gen(function* () {
      const { impatiently, replica } = yield* openImpatient
      const names = agentNames(MANY)
      const left = Effect.gen(function* () {
        const agents = yield* rowsOf(replica, "agents")
        const blocked = yield* rowsOf(replica, "blacklist")
        return [agents.length, blocked.length]
      })
      yield* register(replica, ...names)
      yield* impatiently(({ removeAll }) => removeAll)
      assert.deepStrictEqual(yield* left, [0, 0])
      yield* register(replica, ...names)
      yield* impatiently(({ blockAll }) => blockAll)
      assert.deepStrictEqual(yield* left, [0, MANY])
      yield* impatiently(({ unblockAll }) => unblockAll)
      assert.deepStrictEqual(yield* left, [0, 0])
      yield* register(replica, ...names)
      yield* impatiently(({ acceptAll }) => acceptAll({ includeRotation: false }))
      const agents = yield* rowsOf(replica, "agents")
      assert.strictEqual(agents.filter(({ admission_state }) => admission_state === "accepted").length, MANY)
    }),
  )
})
