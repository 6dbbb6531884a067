import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { namesOf as namesOfTopics, topicsNamed } from "@tocsin/core/kernel/topics/Topics"
import { type CommandChanges, NO_CHANGES, OTHER_CHANGES } from "@tocsin/core/kernel/unitOfWork/Table"
import { type Command, reporting } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Exit } from "effect"
import { incidentIdOf, incidentRecord, outboxRecord, write } from "./records.ts"
import { openReplica } from "./Replica.ts"
import { enroll, eventOf, register, send } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

/** Reads an agent, as most commands do first. */
const look = (agent: string): Command<string> =>
  function* () {
    yield { agents: [AgentId.make(agent)] }
    return agent
  }

/** Changes an agent and nothing else. */
const seen = (agent: string): Command<string> =>
  function* (unit, now) {
    const id = AgentId.make(agent)
    yield { agents: [id] }
    const before = unit.agents.get(id)
    if (before !== undefined) unit.putAgent({ ...before, last_seen_at: now, hostname: "seen" })
    return agent
  }

/** Opens an incident with an outbox item, both called like the agent. */
const open = (agent: string): Command<string> =>
  function* (unit) {
    yield { agents: [AgentId.make(agent)] }
    unit.incidents.put(incidentRecord(agent))
    unit.outbox.put(outboxRecord(agent, agent))
    return agent
  }

/** Writes the agent's name into the incident that all of them share. */
const share = (agent: string): Command<string> =>
  function* (unit) {
    yield { agents: [AgentId.make(agent)] }
    yield { incidents: [incidentIdOf("shared")] }
    const before = unit.incidents.get(incidentIdOf("shared"))
    if (before !== undefined) unit.incidents.put({ ...before, summary: agent })
    return agent
  }

/** Makes a storage decide the other commands of its group again. */
const fail = (agent: string): Command<string> =>
  function* (unit) {
    yield { agents: [AgentId.make(agent)] }
    unit.incidents.put(incidentRecord(`failed ${agent}`))
    throw new Error("thrown by a decision")
  }

/** The topics of each command. */
const topicsOf: ReadonlyMap<(agent: string) => Command<string>, ReadonlyArray<string>> = new Map([
  [look, []],
  [seen, ["agents"]],
  [open, ["incidents", "outbox"]],
  [share, ["incidents"]],
])

/** Runs a command. Returns its reply, and what it reported before that. */
const commit = <A>(storage: Storage["Service"], command: Command<A>) =>
  Effect.suspend(() => {
    const reports: Array<CommandChanges> = []
    return Effect.map(storage.transact(reporting(command, (changes) => reports.push(changes))), (reply) => {
      assert.lengthOf(reports, 1)
      return { reply, changes: reports[0] ?? NO_CHANGES }
    })
  })

/** The names of the rows that a command reports as changed. */
const namesOf = ({ incidents }: CommandChanges) =>
  incidents.map(({ before, after }) => [before?.summary, after?.summary])

/** `Storage.transact` reports the changes of each command, without those of its group. */
export const committedSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("a committed command", () => {
    it.effect("returns its reply, and whether it changed anything that has listeners", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* enroll(replica, "a")
        const { storage } = replica
        assert.deepStrictEqual(yield* commit(storage, look("a")), { reply: "a", changes: NO_CHANGES })
        const renamed = yield* commit(storage, seen("a"))
        assert.deepStrictEqual(renamed.changes, { ...OTHER_CHANGES, topics: topicsNamed(["agents"]) })
        const heartbeat = yield* commit(storage, seen("a"))
        assert.deepStrictEqual(heartbeat.changes, OTHER_CHANGES)
        const { changes } = yield* commit(storage, open("a"))
        assert.deepInclude(changes, { isWrite: true, isOutboxChanged: true })
        assert.deepStrictEqual(changes.incidents, [{ before: undefined, after: incidentRecord("a") }])
      }),
    )

    it.effect("names the checks that go with a deleted or blocked agent", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const { admission, commits } = replica
        const named: Array<ReadonlyArray<string>> = []
        yield* commits.listen({ committed: ({ topics }) => named.push(namesOfTopics(topics)) })
        yield* register(replica, "pending")
        yield* admission.remove(AgentId.make("pending"))
        assert.deepStrictEqual(named.splice(0), [["agents"], ["agents", "audit"]])
        yield* enroll(replica, "deleted", "blocked")
        yield* send(replica, "deleted", [eventOf(0, { status: "ok" })])
        named.length = 0
        yield* admission.remove(AgentId.make("deleted"))
        yield* admission.block(AgentId.make("blocked"))
        assert.deepStrictEqual(named, [
          ["agents", "checks", "audit"],
          ["agents", "blacklist", "checks", "audit"],
        ])
      }),
    )

    for (const [name, isDisturbed] of [
      ["reports its own changes alone, however many share its transaction", false],
      ["reports them once, where its group fails and it is decided again", true],
    ] as const) {
      it.live(name, () =>
        Effect.gen(function* () {
          const replica = yield* openReplica(subject)
          const agents = Array.from({ length: 40 }, (_, n) => `agent-${n}`)
          yield* enroll(replica, ...agents)
          yield* write(replica, [], ({ incidents }) =>
            incidents.put({ ...incidentRecord("shared"), summary: "shared" }),
          )
          const kinds = [look, seen, open, share, ...(isDisturbed ? [fail] : [])]
          const commands = agents.flatMap((agent, n) => kinds[n % kinds.length]?.(agent) ?? [])
          const exits = yield* Effect.forEach(
            commands,
            (command) => Effect.exit(commit(replica.storage, command)),
            { concurrency: "unbounded" },
          )
          const shared: Array<ReadonlyArray<string | undefined>> = []
          for (const [n, exit] of exits.entries()) {
            const kind = kinds[n % kinds.length]
            assert.strictEqual(Exit.isFailure(exit), kind === fail)
            if (!Exit.isSuccess(exit)) continue
            const { reply, changes } = exit.value
            assert.strictEqual(reply, agents[n])
            assert.strictEqual(changes.isWrite, kind !== look)
            assert.strictEqual(changes.isOutboxChanged, kind === open)
            assert.deepStrictEqual(
              namesOfTopics(changes.topics),
              kind === undefined ? [] : topicsOf.get(kind),
            )
            if (kind === share) shared.push(...namesOf(changes))
            else
              assert.deepStrictEqual(
                changes.incidents.map(({ after }) => after),
                kind === open ? [incidentRecord(reply)] : [],
              )
          }
          // Each replaced the write of the one before it.
          const names = agents.filter((_, n) => kinds[n % kinds.length] === share)
          assert.sameMembers(
            shared.map(([, after]) => after),
            names,
          )
          const last = (yield* replica.storage.incident(incidentIdOf("shared"), {
            members: 0,
            changes: 0,
            log: 0,
            outbox: 0,
          }))?.incident.summary
          assert.sameMembers(
            shared.map(([before]) => before),
            ["shared", ...names].filter((one) => one !== last),
          )
        }),
      )
    }
  })
}
