import { Effect } from "effect"
import type { FieldProblem } from "@tocsin/contract/formats/describeIssue"
import { type AgentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { compileMatchers, type Matcher } from "@tocsin/contract/labels/Matcher"
import { formatMatcher } from "@tocsin/contract/labels/matcherText"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { ALL_AGENTS, eachPage } from "../../kernel/engine/lists/readPage.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { commandOf, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import { incidentOf, overdueRef } from "./overdueIncident.ts"

/** Whether checks of an agent must report, and all of them have their own incidents while they are late. */
const standAlone = commandOf(function* (unit, agent_id: AgentId) {
  yield* load(unit, { agents: [agent_id] })
  const agent = unit.agents.get(agent_id)
  if (agent === undefined) return false
  yield* load(unit, { groups: { expectation: [agent] } })
  const integration = yield* loadRow(unit, "integration", agent_id)
  const expected = unit.expectations.group(agent.registration_id)
  return expected.length > 0 && expected.every((each) => incidentOf(each, integration) === "own")
})

/** A matcher, and where it is written. */
export interface PlacedMatcher {
  readonly matcher: Matcher
  readonly path: FieldProblem["path"]
}

/**
 * Those of these matchers that name `AGENT_ID/@overdue` alone, of an agent whose overdue checks all have their own
 * incidents now (docs/rules.md#late-checks).
 */
export const findUnmatched = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { transact }: Pick<Commits["Service"], "transact">,
  placed: ReadonlyArray<PlacedMatcher>,
) {
  const left = new Map(
    placed
      .filter(({ matcher: { field, op } }) => field === "incident_key" && op !== "!=")
      .map((each) => [each, compileMatchers([each.matcher])] as const),
  )
  const found: Array<FieldProblem> = []
  if (left.size === 0) return found
  yield* eachPage(storage, ALL_AGENTS, (agents) =>
    Effect.forEach(
      agents,
      Effect.fnUntraced(function* ({ agent_id }) {
        const { incident_key } = overdueRef(agent_id)
        // A glob that matches the incident of any check matches something.
        const ofCheck = { incident_key: IncidentKey.make(`${agent_id}/-/@overdue`) }
        const named = Array.from(left).filter(([, matches]) => matches({ incident_key }) && !matches(ofCheck))
        if (named.length === 0) return
        const isUnmatched = yield* transact(standAlone(agent_id))
        for (const [each] of named) {
          left.delete(each)
          if (!isUnmatched) continue
          found.push({
            path: each.path,
            message: `matches no late check any more (${formatMatcher(each.matcher)}), as each of ${agent_id} has its own incident; write incident_key glob ${agent_id}/*@overdue for all of them, or check_id for one`,
          })
        }
      }),
      { discard: true },
    ),
  )
  return found
})
