import { Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { MatchedFacts } from "@tocsin/contract/labels/Matcher"
import { commandOf } from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import { incidentRefOf } from "../model/IncidentRecord.ts"
import type { ExpectedCheckState } from "../overdue/expectedChecks.ts"
import type { OperationPorts } from "./operationPorts.ts"
import { mergeLabels } from "../firings/loudMembers.ts"
import { activeMutes, type Mute, mutesOf } from "../firings/mutes.ts"
import { isOfAgent } from "../policy/compilePolicy.ts"

/** Agents that are read together. */
const AT_A_TIME = 8

/** The facts of a check that matchers compare, as of a member of its incident. */
const factsOf = (
  check: ExpectedCheckState,
  { hostname = "", labels }: Partial<AgentRecord>,
  sha256: (text: string) => string,
): Partial<MatchedFacts> => {
  const { agent_id, check_id, late_severity, state, status, title } = check
  const severity = state === "late" ? late_severity : status === "ok" ? null : status
  return {
    agent_id,
    check_id,
    hostname,
    incident_key: incidentRefOf(agent_id, check, sha256).incident_key,
    labels: mergeLabels(labels, title === null ? check.labels : { ...check.labels, title }),
    ...(severity !== null && { severity }),
  }
}

const unendedSilences = commandOf((unit) => find("silencesEndingAfter", unit.now))

export interface HeldCheck extends ExpectedCheckState {
  readonly held_by: ReadonlyArray<Mute["by"]>
}

export type HoldingPorts = Pick<OperationPorts, "commits" | "sha256" | "storage"> & {
  readonly policy: Pick<OperationPorts["policy"], "current">
}

/** Makes the function that adds to checks what mutes them. Reads no agent unless one compares what agents report. */
export const holdingChecks = ({ commits, policy, sha256, storage }: HoldingPorts) =>
  Effect.fnUntraced(function* (checks: ReadonlyArray<ExpectedCheckState>) {
    const silences = yield* commits.transact(unendedSilences())
    const mutes = activeMutes(policy.current(), silences, yield* Instant.now)
    if (mutes.mutes.length === 0) return checks.map((check): HeldCheck => ({ ...check, held_by: [] }))
    const ofAgents = mutes.mutes.some(({ matchers }) => matchers.some(isOfAgent)) ? checks : []
    const ids = Array.from(new Set(ofAgents.map(({ agent_id }) => agent_id)))
    const agents = yield* Effect.forEach(ids, storage.agent, { concurrency: AT_A_TIME })
    const agentOf = new Map(ids.map((id, place) => [id, agents[place]]))
    return checks.map((check): HeldCheck => ({
      ...check,
      held_by: mutesOf(mutes, factsOf(check, agentOf.get(check.agent_id) ?? {}, sha256)),
    }))
  })
