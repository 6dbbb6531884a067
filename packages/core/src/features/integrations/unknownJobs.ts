import { Effect } from "effect"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { ALL_AGENTS, eachPage } from "../../kernel/engine/lists/readPage.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { commandOf, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import { severityOfJob } from "./expected.ts"

/** The jobs of an agent that are unknown while they are late. */
const unknownOf = commandOf(function* (unit, agent_id: AgentId) {
  yield* load(unit, { agents: [agent_id] })
  const agent = unit.agents.get(agent_id)
  if (agent === undefined) return []
  yield* load(unit, { groups: { expectation: [agent] } })
  const integration = yield* loadRow(unit, "integration", agent_id)
  const isOfJobs = integration !== undefined && severityOfJob(integration.kind) !== undefined
  return unit.expectations
    .group(agent.registration_id)
    .filter(({ terms }) => terms.severity === "unknown" && (isOfJobs || terms.cron !== undefined))
})

/** How many jobs are unknown while they are late, and how many of them because nobody stated a severity. */
export const countUnknownJobs = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { transact }: Pick<Commits["Service"], "transact">,
) {
  let [jobs, unstated] = [0, 0]
  yield* eachPage(storage, ALL_AGENTS, (agents) =>
    Effect.forEach(
      agents,
      Effect.fnUntraced(function* ({ agent_id }) {
        const found = yield* transact(unknownOf(agent_id))
        jobs += found.length
        unstated += found.filter(({ terms }) => terms.is_severity_stated !== true).length
      }),
      { discard: true },
    ),
  )
  return { jobs, unstated }
})
