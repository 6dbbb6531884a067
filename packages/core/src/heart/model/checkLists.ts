import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { ListedStatus, ShownState } from "@tocsin/contract/formats/Status"
import { wordsOf } from "../../kernel/engine/lists/searchWords.ts"
import { constant, fixed, type ListPlan, one } from "../../kernel/model/ListPlan.ts"

export interface CheckFilter {
  readonly agent_id?: AgentId | undefined
  readonly status?: ListedStatus | undefined
  /** The state that people see. A late check has that of its own list. */
  readonly state?: ShownState | undefined
  /** Words that are all found in the check's names, its summary or its title (docs/rules.md#lists). */
  readonly search?: string | undefined
}

/** Rows of agents that are present, or of one, by the leading columns of an index. */
export const ofPresentAgents = (agentId: string | undefined) =>
  agentId === undefined
    ? ({ fixed: [], isOfPresentAgents: true, conditions: [] } as const)
    : {
        fixed: fixed("agent_id", agentId),
        conditions: [
          {
            sql: "r.registration_id = (SELECT registration_id FROM agent WHERE agent_id = ?)",
            values: [agentId],
          },
        ],
      }

/** Finds checks by their last result, in the table `reported`. */
export const isFound = ({ search, status }: CheckFilter, reported: "c" | "r") => ({
  conditions:
    status === undefined || status === "not_ok" ? [] : [{ sql: `${reported}.status = ?`, values: [status] }],
  searched: {
    text: (member: (column: string, name: string) => string) =>
      `lower(r.agent_id || '/' || r.check_id || ' ' || coalesce(${reported}.summary, '') || ' ' || coalesce((
        SELECT ${member("t.labels", "title")} FROM check_label AS t WHERE t.agent_id = r.agent_id
          AND t.check_id = r.check_id AND t.registration_id = r.registration_id), ''))`,
    words: wordsOf(search),
  },
})

/** The few checks that are not ok have an index. */
export const planChecks = (filter: CheckFilter): ListPlan => {
  const { state, status = state === "withdrawn" ? undefined : state } = filter
  const present = ofPresentAgents(filter.agent_id)
  const found = isFound(filter, "r")
  if (state === "withdrawn")
    return one({
      ...present,
      ...found,
      conditions: [constant("r.withdrawn_at IS NOT NULL"), ...present.conditions, ...found.conditions],
      index: "check_state_withdrawn",
    })
  const isInState = "r.status = ? AND r.overdue_incident_id IS NULL AND r.withdrawn_at IS NULL"
  const inState = state === undefined ? [] : [{ sql: isInState, values: [state] }]
  const conditions = [...present.conditions, ...found.conditions, ...inState]
  return status === undefined || status === "ok"
    ? one({ ...present, ...found, conditions })
    : one({
        ...present,
        ...found,
        conditions: [constant("r.status <> 'ok'"), ...conditions],
        index: "check_state_not_ok",
      })
}

export const planHistory = ({
  agent_id,
  check_id,
}: {
  readonly agent_id?: AgentId | undefined
  readonly check_id?: CheckId | undefined
}): ListPlan => {
  const present = ofPresentAgents(agent_id)
  return one({ ...present, fixed: [...present.fixed, ...fixed("check_id", check_id)] })
}
