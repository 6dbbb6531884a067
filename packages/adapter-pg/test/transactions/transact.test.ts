import { assert, layer } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { CommandChanges } from "@tocsin/core/kernel/unitOfWork/Table"
import { type Command, type Decision, reporting } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { faultyNetwork } from "@tocsin/test/postgres/faultyNetwork"
import { type Replica, ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { agentRecord } from "@tocsin/testing/records"
import { Effect, Fiber } from "effect"
import { eventually } from "../client/eventually.ts"
import { openStorage } from "../openStorage.ts"
import { waitingForLocks } from "../waitingForLocks.ts"
import { networkAtCommit } from "./networkAtCommit.ts"
import { transact } from "@tocsin/testing/transact"

const agentIdOf = (name: string) => AgentId.make(name)

/**
 * A command that is not safe to decide twice. Agents that are asked for one after the other may end
 * in a deadlock.
 */
const counter =
  (steps: ReadonlyArray<ReadonlyArray<string>>): Command<number> =>
  (unit) =>
    count(unit, steps)

function* count(unit: UnitOfWork, steps: ReadonlyArray<ReadonlyArray<string>>): Decision<number> {
  let counted = 0
  for (const step of steps) {
    const agents = step.map(agentIdOf)
    yield { agents }
    for (const agent_id of agents) {
      const agent = unit.agents.get(agent_id) ?? agentRecord(agent_id)
      counted = agent.checks_ok + 1
      unit.putAgent({ ...agent, checks_ok: counted })
    }
  }
  return counted
}

/** A command on one existing agent is decided in a group; one on two agents is alone. */
const WAYS = [
  { way: "in a group", agents: ["one"] },
  { way: "alone", agents: ["one", "two"] },
]

const countOf = ({ sql }: Replica, agent: string) =>
  Effect.map(
    sql<{ checks_ok: number }>`SELECT checks_ok FROM agent WHERE agent_id = ${agent}`,
    (rows) => rows[0]?.checks_ok,
  )

/** A storage behind a network that breaks at COMMIT, and a look past that network. */
const setUp = Effect.gen(function* () {
  const scratch = yield* ScratchPostgres
  const network = yield* networkAtCommit(scratch.url)
  const storage = yield* openStorage({ url: network.url, replyTimeout: "2 seconds" })
  const observer = yield* scratch.replica({ maxConnections: 1 })
  return { network, storage, observer }
})

/** The same, with a command that has counted to one. */
const setUpCounter = (agents: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const parts = yield* setUp
    yield* parts.observer.sql`TRUNCATE agent`
    const command = counter([agents])
    yield* transact(parts.storage, command)
    return { ...parts, command }
  })

layer(ScratchPostgres.layerOfOwnServer)("a connection lost at COMMIT", (it) => {
  for (const { agents, way } of WAYS) {
    it.effect(`before it arrived: the command is decided again (${way})`, () =>
      Effect.gen(function* () {
        const { command, network, observer, storage } = yield* setUpCounter(agents)
        yield* network.breakNext("lost")
        assert.strictEqual(yield* transact(storage, command), 2)
        assert.strictEqual(yield* countOf(observer, "one"), 2)
      }),
    )

    it.effect(`after it succeeded: returns the first reply (${way})`, () =>
      Effect.gen(function* () {
        const { command, network, observer, storage } = yield* setUpCounter(agents)
        yield* network.breakNext("answer_lost")
        assert.strictEqual(yield* transact(storage, command), 2)
        assert.strictEqual(yield* countOf(observer, "one"), 2)
      }),
    )

    it.effect(`after it succeeded, when the host vanished: returns the first reply (${way})`, () =>
      Effect.gen(function* () {
        const { command, network, observer, storage } = yield* setUpCounter(agents)
        yield* network.breakNext("unanswered")
        assert.strictEqual(yield* transact(storage, command), 2)
        assert.strictEqual(yield* countOf(observer, "one"), 2)
      }),
    )

    it.effect(`while it is on its way: waits until it is done (${way})`, () =>
      Effect.gen(function* () {
        const { command, network, observer, storage } = yield* setUpCounter(agents)
        yield* network.breakNext("delayed")
        const fiber = yield* Effect.forkChild(transact(storage, command))
        yield* eventually(Effect.map(network.delayed, (count) => count === 1))
        const asked = observer.sql<{ asked: boolean }>`
          SELECT count(*) > 0 AS asked FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE '%pg_xact_status%' AND pid <> pg_backend_pid()
        `
        yield* eventually(Effect.map(asked, (rows) => rows[0]?.asked === true))
        assert.strictEqual(yield* countOf(observer, "one"), 1)
        yield* network.deliver
        assert.strictEqual(yield* Fiber.join(fiber), 2)
        assert.strictEqual(yield* countOf(observer, "one"), 2)
      }),
    )

    it.effect(`while it is on its way, and its caller is interrupted: reports what was kept (${way})`, () =>
      Effect.gen(function* () {
        const { command, network, observer, storage } = yield* setUpCounter(agents)
        yield* network.breakNext("delayed")
        const reports: Array<CommandChanges> = []
        const fiber = yield* Effect.forkChild(
          storage.transact(reporting(command, (changes) => reports.push(changes))),
        )
        yield* eventually(Effect.map(network.delayed, (count) => count === 1))
        const interrupting = yield* Effect.forkChild(Fiber.interrupt(fiber))
        yield* network.deliver
        yield* Fiber.join(interrupting)
        yield* eventually(Effect.sync(() => reports.length > 0))
        assert.strictEqual(yield* countOf(observer, "one"), 2)
        assert.deepStrictEqual(
          reports.map(({ isWrite }) => isWrite),
          [true],
        )
      }),
    )

    it.effect(`when the server has crashed since, says that the outcome is not known (${way})`, () =>
      Effect.gen(function* () {
        const { command, network, observer, storage } = yield* setUpCounter(agents)
        yield* network.breakNext("delayed")
        const fiber = yield* Effect.forkChild(Effect.flip(transact(storage, command)))
        yield* eventually(Effect.map(network.delayed, (count) => count === 1))
        // One step of a recovery.
        yield* observer.sql`SELECT pg_stat_reset_shared('bgwriter')`
        yield* network.deliver
        const error = yield* Fiber.join(fiber)
        assert.strictEqual(error.reason, "unavailable")
        assert.include(error.message, "which may have succeeded")
        yield* eventually(Effect.map(countOf(observer, "one"), (counted) => counted === 2))
      }),
    )

    it.effect(`of a decision that changed nothing: its reply stands (${way})`, () =>
      Effect.gen(function* () {
        const { network, storage } = yield* setUpCounter(agents)
        yield* network.breakNext("lost")
        const found = yield* transact(storage, function* (unit) {
          yield { agents: agents.map(agentIdOf) }
          return unit.agents.get(agentIdOf("one"))?.checks_ok
        })
        assert.strictEqual(found, 1)
      }),
    )
  }
})

layer(ScratchPostgres.layerMigrated)("a transaction that certainly rolled back is decided again", (it) => {
  it.effect("after its connection was lost in the middle", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const network = yield* faultyNetwork(scratch.url)
      const storage = yield* openStorage({ url: network.url })
      const observer = yield* scratch.replica()
      const holder = yield* scratch.replica()
      const command = counter([["middle"]])
      yield* transact(storage, command)
      const fiber = yield* holder.sql.withTransaction(
        Effect.gen(function* () {
          yield* holder.sql`SELECT 1 FROM agent WHERE agent_id = 'middle' FOR UPDATE`
          const waiting = yield* Effect.forkChild(transact(storage, command))
          yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
          yield* network.cut
          // The server does not notice that its first client is gone.
          yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 2))
          return waiting
        }),
      )
      assert.strictEqual(yield* Fiber.join(fiber), 2)
      assert.strictEqual(yield* countOf(observer, "middle"), 2)
    }),
  )

  it.effect("after its connections were ended while they were idle", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const storage = yield* openStorage({ url: scratch.url })
      const command = counter([["idle"]])
      const alone = counter([["idle", "other"]])
      yield* Effect.all(
        Array.from({ length: 10 }, (_, n) => transact(storage, n % 2 === 0 ? command : alone)),
        { concurrency: "unbounded" },
      )
      assert.isAbove(yield* scratch.killConnections, 5)
      assert.strictEqual(yield* transact(storage, command), 11)
      assert.strictEqual((yield* storage.agent(agentIdOf("idle")))?.checks_ok, 11)
    }),
  )

  it.effect("after a deadlock", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const storage = yield* openStorage({ url: scratch.url })
      const observer = yield* scratch.replica()
      const holder = yield* scratch.replica()
      const ab = counter([["a"], ["b"]])
      const ba = counter([["b"], ["a"]])
      yield* transact(storage, ab)
      const [first, second] = yield* holder.sql.withTransaction(
        Effect.gen(function* () {
          yield* holder.sql`SELECT 1 FROM agent WHERE agent_id = 'b' FOR UPDATE`
          const waiting = (count: number) =>
            eventually(Effect.map(waitingForLocks(observer), (now) => now === count))
          // It queues for b first, so it gets b and then waits for a, which the other one holds
          // while it waits for b.
          const fiberBA = yield* Effect.forkChild(transact(storage, ba))
          yield* waiting(1)
          const fiberAB = yield* Effect.forkChild(transact(storage, ab))
          yield* waiting(2)
          return [fiberBA, fiberAB] as const
        }),
      )
      yield* Fiber.joinAll([first, second])
      assert.deepStrictEqual([yield* countOf(observer, "a"), yield* countOf(observer, "b")], [3, 3])
    }),
  )
})
