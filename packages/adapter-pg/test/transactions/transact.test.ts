import { assert, layer } from "@effect/vitest"
import { AgentId } from "@tocsin/core/contract/Identifiers"
import type { Command } from "@tocsin/core/workspace/Decision"
import { faultyNetwork } from "@tocsin/test/postgres/faultyNetwork"
import { type Replica, ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { agentRecord } from "@tocsin/test/storage/records"
import { Effect, Fiber } from "effect"
import { eventually } from "../client/eventually.ts"
import { openStorage } from "../openStorage.ts"
import { waitingForLocks } from "../waitingForLocks.ts"
import { networkAtCommit } from "./networkAtCommit.ts"

const agentIdOf = (name: string) => AgentId.make(name)

/** A command that is not safe to decide twice, and how often it was decided. */
const counter = (...agents: ReadonlyArray<string>) => {
  const decided = { times: 0 }
  const command: Command<number> = function* (workspace) {
    decided.times += 1
    let count = 0
    for (const name of agents) {
      yield { agents: [agentIdOf(name)] }
      const agent = workspace.agents.get(agentIdOf(name)) ?? agentRecord(name)
      count = agent.checks_ok + 1
      workspace.putAgent({ ...agent, checks_ok: count })
    }
    return count
  }
  return { command, decided }
}

const countOf = ({ sql }: Replica, agent: string) =>
  Effect.map(
    sql<{ checks_ok: number }>`SELECT checks_ok FROM agent WHERE agent_id = ${agent}`,
    (rows) => rows[0]?.checks_ok,
  )

/** A storage behind a network that breaks at COMMIT, and a look past that network. */
const setUp = Effect.gen(function* () {
  const scratch = yield* ScratchPostgres
  const network = yield* networkAtCommit(scratch.url)
  const storage = yield* openStorage({ url: network.url })
  const observer = yield* scratch.replica({ maxConnections: 1 })
  return { network, storage, observer }
})

layer(ScratchPostgres.layer)("a connection lost at COMMIT", (it) => {
  it.effect("before it arrived: the command is decided again", () =>
    Effect.gen(function* () {
      const { network, observer, storage } = yield* setUp
      const { command, decided } = counter("lost")
      yield* network.breakNext("lost")
      assert.strictEqual(yield* storage.transact(command), 1)
      assert.strictEqual(decided.times, 2)
      assert.strictEqual(yield* countOf(observer, "lost"), 1)
    }),
  )

  it.effect("after it was done: the reply that was made counts", () =>
    Effect.gen(function* () {
      const { network, observer, storage } = yield* setUp
      const { command, decided } = counter("done")
      yield* storage.transact(command)
      yield* network.breakNext("answer_lost")
      assert.strictEqual(yield* storage.transact(command), 2)
      assert.strictEqual(decided.times, 2)
      assert.strictEqual(yield* countOf(observer, "done"), 2)
    }),
  )

  it.effect("while it is on its way: waits until it is done", () =>
    Effect.gen(function* () {
      const { network, observer, storage } = yield* setUp
      const { command, decided } = counter("delayed")
      yield* network.breakNext("delayed")
      const fiber = yield* Effect.forkChild(storage.transact(command))
      yield* eventually(Effect.map(network.delayed, (count) => count === 1))
      const asked = observer.sql<{ asked: boolean }>`
        SELECT count(*) > 0 AS asked FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE '%pg_xact_status%' AND pid <> pg_backend_pid()
      `
      yield* eventually(Effect.map(asked, (rows) => rows[0]?.asked === true))
      assert.isUndefined(yield* countOf(observer, "delayed"))
      yield* network.deliver
      assert.strictEqual(yield* Fiber.join(fiber), 1)
      assert.strictEqual(decided.times, 1)
      assert.strictEqual(yield* countOf(observer, "delayed"), 1)
    }),
  )

  it.effect("when the server has crashed since, says that the outcome is not known", () =>
    Effect.gen(function* () {
      const { network, observer, storage } = yield* setUp
      const { command, decided } = counter("crashed")
      yield* network.breakNext("delayed")
      const fiber = yield* Effect.forkChild(Effect.flip(storage.transact(command)))
      yield* eventually(Effect.map(network.delayed, (count) => count === 1))
      // What a recovery does, among other things.
      yield* observer.sql`SELECT pg_stat_reset_shared('bgwriter')`
      yield* network.deliver
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(error.reason, "unavailable")
      assert.include(error.message, "whether it was kept")
      assert.strictEqual(decided.times, 1)
    }),
  )

  it.effect("of a decision that changed nothing: its reply stands", () =>
    Effect.gen(function* () {
      const { network, storage } = yield* setUp
      yield* network.breakNext("lost")
      let times = 0
      const found = yield* storage.transact(function* (workspace) {
        times += 1
        yield { agents: [agentIdOf("nobody")] }
        return workspace.agents.get(agentIdOf("nobody"))
      })
      assert.isUndefined(found)
      assert.strictEqual(times, 1)
    }),
  )
})

layer(ScratchPostgres.layer)("what is certainly not kept is decided again", (it) => {
  it.effect("after a connection that was lost in the middle", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const network = yield* faultyNetwork(scratch.url)
      const storage = yield* openStorage({ url: network.url })
      const observer = yield* scratch.replica()
      const holder = yield* scratch.replica()
      const { command, decided } = counter("middle")
      yield* storage.transact(command)
      const fiber = yield* holder.sql.withTransaction(
        Effect.gen(function* () {
          yield* holder.sql`SELECT 1 FROM agent WHERE agent_id = 'middle' FOR UPDATE`
          const waiting = yield* Effect.forkChild(storage.transact(command))
          yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
          yield* network.cut
          yield* eventually(Effect.sync(() => decided.times === 3))
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
      const { command } = counter("idle")
      yield* Effect.all(
        Array.from({ length: 10 }, () => storage.transact(command)),
        {
          concurrency: "unbounded",
        },
      )
      assert.isAbove(yield* scratch.killConnections, 5)
      assert.strictEqual(yield* storage.transact(command), 11)
      assert.strictEqual((yield* storage.agent(agentIdOf("idle")))?.checks_ok, 11)
    }),
  )

  it.effect("after a deadlock", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const storage = yield* openStorage({ url: scratch.url })
      const observer = yield* scratch.replica()
      const holder = yield* scratch.replica()
      const ab = counter("a", "b")
      const ba = counter("b", "a")
      yield* storage.transact(ab.command)
      const [first, second] = yield* holder.sql.withTransaction(
        Effect.gen(function* () {
          yield* holder.sql`SELECT 1 FROM agent WHERE agent_id = 'b' FOR UPDATE`
          const waiting = (count: number) =>
            eventually(Effect.map(waitingForLocks(observer), (now) => now === count))
          // It queues for b first, so it gets b and then waits for a, which the other one holds while it waits for b.
          const fiberBA = yield* Effect.forkChild(storage.transact(ba.command))
          yield* waiting(1)
          const fiberAB = yield* Effect.forkChild(storage.transact(ab.command))
          yield* waiting(2)
          return [fiberBA, fiberAB] as const
        }),
      )
      yield* Fiber.joinAll([first, second])
      assert.strictEqual(ab.decided.times + ba.decided.times, 4)
      assert.deepStrictEqual([yield* countOf(observer, "a"), yield* countOf(observer, "b")], [3, 3])
    }),
  )
})
