import { assert, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { Command } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { Clock, Effect, Exit, Fiber } from "effect"
import { incidentIdOf, incidentRecord, write } from "./records.ts"
import { openReplica } from "./Replica.ts"
import { enroll, start } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const ONE = AgentId.make("one")
const SHARED = incidentIdOf("shared")

/** Something that commands replace by a number, so that the next one sees whether it was kept. */
interface Stamped {
  readonly requests: ReadonlyArray<RowRequest>
  readonly replace: (unit: UnitOfWork, stamp: number) => number
}

const stampAgent = (unit: UnitOfWork, stamp: number): number => {
  const agent = unit.agents.get(ONE)
  assert.isDefined(agent)
  unit.putAgent({ ...agent, last_seen_at: Instant.fromMicros(start + BigInt(stamp)) })
  return Number(agent.last_seen_at - start)
}

const stampIncident = (unit: UnitOfWork, stamp: number): number => {
  const incident = unit.incidents.get(SHARED)
  assert.isDefined(incident)
  unit.incidents.put({ ...incident, summary: String(stamp) })
  return Number(incident.summary)
}

/** Kinds of rows that storages may commit in different ways. */
const KINDS: ReadonlyMap<string, Stamped> = new Map([
  ["an agent", { requests: [{ agents: [ONE] }], replace: stampAgent }],
  ["an incident", { requests: [{ agents: [ONE] }, { incidents: [SHARED] }], replace: stampIncident }],
  ["one of two agents", { requests: [{ agents: [ONE, AgentId.make("other")] }], replace: stampAgent }],
])

const stamping = ({ replace, requests }: Stamped, stamp: number, onDecided: () => void): Command<number> =>
  function* (unit) {
    yield* requests
    const former = replace(unit, stamp)
    onDecided()
    return former
  }

/** Up to how many steps of its fiber a command is interrupted after. */
const MOST_STEPS = 30

/** A change is reported as soon as it is committed, whether or not its caller still waits. */
export const interruptedSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  for (const [what, kind] of KINDS) {
    it.live(`a command that changes ${what} is reported exactly if it was kept, also if interrupted`, () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const { commits } = replica
        yield* enroll(replica, "one", "other")
        yield* write(replica, [], ({ incidents }) =>
          incidents.put({ ...incidentRecord("shared"), summary: "0" }),
        )
        let reported = 0
        yield* commits.listen({ committed: () => void (reported += 1) })
        let stamp = 0
        const next = (onDecided: () => void) => commits.transact(stamping(kind, (stamp += 1), onDecided))
        for (let steps = -1; steps < MOST_STEPS; steps++) {
          reported = 0
          const caller: Fiber.Fiber<unknown, unknown> = yield* Effect.forkChild(
            // First in the middle of its decision, which a group may have begun for several callers.
            next(() => (steps === -1 ? caller.interruptUnsafe() : undefined)),
            { startImmediately: steps >= 0 },
          )
          for (let step = 0; step < steps; step++) yield* Effect.yieldNow
          if (steps >= 0) yield* Fiber.interrupt(caller)
          yield* Fiber.await(caller)
          const interrupted = stamp
          const kept = yield* next(() => {})
          assert.strictEqual(reported, kept === interrupted ? 2 : 1, `interrupted after ${steps} steps`)
        }
      }),
    )
    it.live(
      `a command without a fiber that changes ${what} is kept, reported and answered once, or withdrawn`,
      () =>
        Effect.gen(function* () {
          const replica = yield* openReplica(subject)
          const { commits } = replica
          const { submit } = commits
          // A storage may have the other way alone.
          if (submit === undefined) return
          yield* enroll(replica, "one", "other")
          yield* write(replica, [], ({ incidents }) =>
            incidents.put({ ...incidentRecord("shared"), summary: "0" }),
          )
          yield* commits.transact(stamping(kind, 0, () => {}))
          const clock = yield* Clock.Clock
          let reported = 0
          yield* commits.listen({ committed: () => void (reported += 1) })
          for (const stamp of [1, 2]) {
            const former = yield* Effect.callback<number, StorageError>((resume) =>
              Effect.sync(
                submit(
                  stamping(kind, stamp, () => {}),
                  clock,
                  resume,
                ),
              ),
            )
            assert.deepStrictEqual([former, reported], [stamp - 1, stamp])
          }
          let decided = 0
          let answered = 0
          const withdraw = submit(
            stamping(kind, 3, () => (decided += 1)),
            clock,
            // A command that is still to be run has decided nothing.
            (ended) => (answered += Exit.isExit(ended) ? 1 : 0),
          )
          withdraw()
          const kept = yield* commits.transact(stamping(kind, 4, () => {}))
          assert.strictEqual(kept, decided === 0 ? 2 : 3)
          assert.strictEqual(reported, decided === 0 ? 3 : 4)
          // Memory answers before it can be withdrawn.
          assert.isAtMost(answered, decided)
        }),
    )
  }
}
