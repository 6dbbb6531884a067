import { AgentKeyTransitions, AgentTransitions } from "@tocsin/core/heart/model/AgentRecord"
import type { Transition } from "@tocsin/contract/formats/TransitionTable"
import { checkTransition, CheckTransitions } from "@tocsin/core/heart/model/CheckRecord"
import { IncidentTransitions } from "@tocsin/core/heart/model/IncidentRecord"
import { OutboxTransitions } from "@tocsin/core/heart/model/OutboxRecord"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { batchReply, type Observation } from "./Action.ts"
import { admission, enrollment, life, lifeByEvents, SIZE, notifiers, type Step } from "./Scenario.ts"
import { explain, stateMoves } from "./stateMoves.ts"
import { tours } from "./tours.ts"
import type { ServiceOptions } from "../service/Service.ts"
import { driveService } from "./DrivenService.ts"

/** Moves, or moves from a state, of held items, of floods, of shadow receivers, and of items claimed ahead: nobody acts in these scenarios, and one item is claimed at a time. No mail comes back. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  "held",
  "hold_ended",
  "gathered",
  "pending followed",
  "released",
  "coalesced",
  "unnamed",
  "shadowed",
  "bounced",
  "withdrawn",
])

const arbitrary = { runs: propertyRuns(150), size: SIZE, maxShrinks: 2_000 }

/** The moves that no table allows, each with its action. */
const forbidden = (observed: Observation): ReadonlyArray<string> => {
  const longest = observed.action.action === "events" ? observed.action.request.events.length : 1
  return stateMoves(observed)
    .filter((move) => explain(move, longest) === undefined)
    .map(
      ({ row, from, to, triggers }) =>
        `${row} from ${from} to ${to} on ${[...triggers].join(", ") || "nothing"}`,
    )
}

const movesByTheTables = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>, options: ServiceOptions) {
  const driven = yield* driveService(options)
  for (const observed of yield* driven.play(steps)) assert.deepStrictEqual(forbidden(observed), [])
})

describe("rows change state only by the transition tables, on a matching trigger", () => {
  it.effect.prop(
    "when agents send batches",
    { steps: life, notifiers },
    ({ steps, notifiers }) => movesByTheTables([...enrollment, ...steps], { notifiers }),
    { arbitrary },
  )

  it.effect.prop(
    "when each batch holds one event, so that each row makes one move",
    { steps: lifeByEvents, notifiers },
    ({ steps, notifiers }) => movesByTheTables([...enrollment, ...steps], { notifiers }),
    { arbitrary },
  )

  it.effect.prop(
    "when keys come and go",
    { steps: admission },
    ({ steps }) => movesByTheTables(steps, { maxPendingAgents: 2 }),
    { arbitrary },
  )

  const rowsOf = (tables: ReadonlyArray<ReadonlyArray<Transition>>) =>
    // Integrations and enrolments are not in these stories: see their suites in packages/testing/src.
    tables
      .flat()
      .filter(({ trigger }) => trigger !== "integrated" && trigger !== "enrolled")
      .map(({ from, trigger, to }) => `${from} ${trigger} ${to}`)

  it.effect("and every row of the tables happens", () =>
    Effect.gen(function* () {
      const happened = new Set<string>()
      for (const tour of tours) {
        const driven = yield* driveService()
        const moves = (yield* driven.play(tour)).flatMap(stateMoves)
        for (const row of rowsOf(moves.map((move) => explain(move, 1) ?? []))) happened.add(row)
      }
      const tables = [
        AgentKeyTransitions,
        AgentTransitions,
        CheckTransitions,
        IncidentTransitions,
        // See acknowledgements, claimsAhead and withoutResolved in test/delivery.
        OutboxTransitions.filter(
          ({ from, trigger }) =>
            !ELSEWHERE.has(trigger) &&
            !ELSEWHERE.has(`${from} ${trigger}`) &&
            !(from === "retry" && trigger === "incident_resolved"),
        ),
      ]
      assert.deepStrictEqual(Array.from(happened).toSorted(), Array.from(new Set(rowsOf(tables))).toSorted())
    }),
  )
})

describe("a check's move between incidents", () => {
  it.effect.prop(
    "follows its row in the table",
    { steps: lifeByEvents },
    ({ steps }) =>
      Effect.gen(function* () {
        const driven = yield* driveService()
        for (const { action, reply, before, after } of yield* driven.play([...enrollment, ...steps])) {
          if (action.action !== "events" || batchReply(reply)?.accepted !== 1) continue
          for (const { check_id, status } of action.request.events) {
            const check = `${action.request.agent_id}/${check_id}`
            const was = before.checks.get(check)
            const is = after.checks.get(check)
            const isMember = { before: was?.incident_id !== undefined, after: is?.incident_id !== undefined }
            switch (checkTransition(was?.status ?? "absent", status).membership) {
              case "none":
                assert.strictEqual(is?.incident_id, was?.incident_id)
                break
              case "joins":
                assert.deepStrictEqual(isMember, { before: false, after: true })
                break
              case "worsens":
              case "improves":
                assert.deepStrictEqual(isMember, { before: true, after: true })
                break
              case "leaves":
                assert.deepStrictEqual(isMember, { before: true, after: false })
            }
          }
        }
      }),
    { arbitrary },
  )
})
