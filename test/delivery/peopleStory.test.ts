import { assert, describe, it } from "@effect/vitest"
import { SEVERITY_RANK } from "@tocsin/core/incidents/MemberRecord"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Effect } from "effect"
import { LONGEST, peopleStory } from "./PeopleStory.ts"
import { playPeopleStory } from "./playPeopleStory.ts"

type Course = Effect.Success<ReturnType<typeof playPeopleStory>>

const arbitrary = { runs: propertyRuns(6), size: LONGEST, maxShrinks: 100 }

/** What is stored, without IDs and times other than those of events. */
const rowsOf = ({ incidents, items }: Course): ReadonlyArray<string> => {
  const names = new Map(
    incidents.map(({ id, incident_key, opened_at }) => [id, `${incident_key} of ${opened_at}`]),
  )
  return [
    ...incidents.map(({ acts, id, members_critical, members_warning, resolved_at, severity, state }) =>
      [names.get(id), state, severity, resolved_at, acts, members_warning, members_critical].join(" "),
    ),
    ...items.map(({ attempts, cause, event_type, incident_id, receiver, severity, state }) =>
      [names.get(incident_id), receiver, event_type, cause, severity, state, attempts].join(" "),
    ),
  ].toSorted()
}

/** The laws of docs/rules.md#holds at the end of a story in which no hold is in force any more. */
const judge = ({ arrivals, incidents, items, outdated }: Course): void => {
  assert.deepStrictEqual(outdated, [])
  for (const { id, severity, state } of incidents) {
    for (const receiver of ["chat", "pager"]) {
      const messages = arrivals
        .map(({ notification }) => notification)
        .filter((message) => message.incident.id === id && message.receiver === receiver)
      const types = messages.map(({ event_type }) => event_type)
      const last = messages.at(-1)
      const words = `${receiver} of ${id}, which is ${state}, was sent: ${types.join()}`
      assert.isFalse(types[0] === "resolved", words)
      if (last !== undefined)
        assert.strictEqual(last.event_type, state === "open" ? "firing" : "resolved", words)
      // Every route notifies it first.
      if (receiver === "chat" && state === "open")
        assert.isAtLeast(
          last === undefined ? -1 : SEVERITY_RANK[last.severity],
          SEVERITY_RANK[severity],
          words,
        )
    }
  }
  for (const { state } of items) assert.include(["sent", "discarded"], state)
}

describe("stories of results, acts of people, time and restarts", () => {
  it.effect.prop(
    "notify of what is, never of an end without a beginning, and alike on replicas and after restarts",
    { steps: peopleStory },
    ({ steps }) =>
      Effect.gen(function* () {
        const alone = yield* playPeopleStory(steps, { processes: 1, restarts: false })
        judge(alone)
        const restarted = yield* playPeopleStory(steps, { processes: 1, restarts: true })
        assert.deepStrictEqual(rowsOf(restarted), rowsOf(alone))
        const replicas = yield* playPeopleStory(steps, { processes: 2, restarts: true })
        judge(replicas)
        assert.deepStrictEqual(rowsOf(replicas), rowsOf(alone))
      }),
    { arbitrary },
  )
})
