import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { Labels } from "@tocsin/contract/labels/Labels"
import { removeCheck } from "@tocsin/core/heart/checks/checkActions"
import type { CheckLabelRecord } from "@tocsin/core/heart/model/CheckLabelRecord"
import { Effect } from "effect"
import { observe, search } from "./observe.ts"
import { after } from "./outboxItems.ts"
import { agentRecord, atMost, incidentIdOf, incidentRecord, memberRecord, write } from "./records.ts"
import { newPlace, type Replica } from "./Replica.ts"
import { start } from "./samples.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const agent = agentRecord("a")
const { agent_id, registration_id } = agent
const ref = { agent_id, registration_id, check_id: CheckId.make("disk") }

const labelled = (labels: Labels): CheckLabelRecord => ({
  ...ref,
  labels,
  title: undefined,
  given_title: undefined,
  declared_title: undefined,
  labelled_at: start,
})

const request = { agents: [AgentId.make("a")], rows: { check_label: [ref] } }

const label = (replica: Replica, labels: Labels) =>
  write(replica, [{ agents: [agent_id] }, request], (unit) => unit.of("check_label").put(labelled(labels)))

/** The labels as each way of reading has them: by row, by list, with a loud member, and on an incident. */
const read = Effect.fnUntraced(function* (replica: Replica) {
  const id = incidentIdOf("x")
  const row = yield* observe(replica, [{ agents: [agent_id] }, request], (unit) =>
    unit.of("check_label").get(ref),
  )
  const [listed] = yield* replica.storage.rows("check_label", [ref])
  const asked = [{ incident_id: id, limit: 1 }]
  const [member] = (yield* search(replica, "loudMembers", asked, (found) => found.get(id))) ?? []
  const scenario = yield* replica.storage.incident(id, atMost(1))
  return [row?.labels, listed?.labels, member?.labels, scenario?.labels[0]]
})

/** Labels of checks are stored as they are declared. */
export const checkLabelSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("labels of a check", () => {
    it.effect("are read as written, changed and deleted, also after a restart", () =>
      Effect.gen(function* () {
        const open = yield* newPlace(subject)
        // A storage that keeps nothing is not restarted.
        const only = subject.keepsNothing === undefined ? undefined : yield* open
        const reopened = <A>(use: (replica: Replica) => Effect.Effect<A, unknown>) =>
          only === undefined ? Effect.scoped(Effect.flatMap(open, use)) : use(only)
        yield* reopened((replica) =>
          Effect.gen(function* () {
            yield* write(replica, [request], (unit) => {
              unit.putAgent(agent)
              unit.incidents.put(incidentRecord("x"))
              unit.members.put(memberRecord({ incident: "x", agent: "a", check: "disk" }))
            })
            assert.deepStrictEqual(yield* read(replica), Array(4).fill(undefined))
            yield* label(replica, { team: "db" })
            assert.deepStrictEqual(yield* read(replica), Array(4).fill({ team: "db" }))
          }),
        )
        yield* reopened((replica) =>
          Effect.gen(function* () {
            assert.deepStrictEqual(yield* read(replica), Array(4).fill({ team: "db" }))
            assert.deepStrictEqual(
              yield* replica.storage.dueRows("expectation", { now: after(1e9), after: undefined, limit: 9 }),
              [],
            )
            yield* label(replica, { team: "web", env: "" })
          }),
        )
        yield* reopened((replica) =>
          Effect.gen(function* () {
            assert.deepStrictEqual(yield* read(replica), Array(4).fill({ team: "web", env: "" }))
            yield* replica.commits.transact(
              removeCheck({ agent_id, check_id: ref.check_id }, replica.incidents, signedBy("ann")),
            )
          }),
        )
        yield* reopened((replica) =>
          Effect.flatMap(read(replica), (labels) =>
            Effect.sync(() => assert.deepStrictEqual(labels, Array(4).fill(undefined))),
          ),
        )
      }),
    )
  })
}
