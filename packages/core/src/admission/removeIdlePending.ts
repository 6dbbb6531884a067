import type { Duration } from "effect"
import * as Instant from "../contract/Instant.ts"
import type { IncidentOptions } from "../incidents/Incidents.ts"
import type { Command } from "../workspace/Decision.ts"
import { removeAgent } from "./removeAgent.ts"

/** One bounded piece of removing pending agents after their last heartbeat (docs/rules.md#retention). Returns how many. */
export const removeIdlePending =
  (input: {
    readonly silence: Duration.Duration
    readonly incidents: IncidentOptions
    readonly limit: number
  }): Command<number> =>
  (workspace, now) =>
    (function* () {
      yield { idlePendingAgents: { seenBefore: Instant.minus(now, input.silence), limit: input.limit } }
      const ids = workspace.found.idlePendingAgents
      yield { keysOfAgents: ids, membersOfAgents: ids }
      for (const id of ids) {
        const agent = workspace.agents.get(id)
        if (agent !== undefined) yield* removeAgent(workspace, agent, now, input.incidents)
      }
      return ids.length
    })()
