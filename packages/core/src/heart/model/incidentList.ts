import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import { type IncidentState, type Severity, SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import {
  constant,
  fixed,
  type Fragment,
  isOneOf,
  type ListPart,
  type ListPlan,
  partition,
} from "../../kernel/model/ListPlan.ts"

export interface IncidentFilter {
  readonly state?: IncidentState | undefined
  readonly severity?: Severity | undefined
  /** Finds incidents in which this check is or was a member; one member must match both IDs. */
  readonly agent_id?: AgentId | undefined
  readonly check_id?: CheckId | undefined
  /** Whether there is an acknowledgement, in force at a moment if one is given. */
  readonly acknowledged?: boolean | undefined
  readonly at?: Instant | undefined
  /** The first moment, and the one after the last, of the order, which is then by `opened_at` or `resolved_at`. */
  readonly from?: Instant | undefined
  readonly to?: Instant | undefined
}

/**
 * The phases of incidents that a filter leaves, each with its `state_rank`. Storages keep the phase in
 * front of each index of incidents, so that no page passes over incidents of another.
 */
const phasesOf = ({
  acknowledged,
  state,
}: IncidentFilter): ReadonlyArray<{ readonly phase: number; readonly state_rank: 0 | 1 }> => [
  ...(state === "open" || acknowledged === true ? [] : [{ phase: 0, state_rank: 0 } as const]),
  ...(state === "resolved" || acknowledged === true ? [] : [{ phase: 1, state_rank: 1 } as const]),
  ...(state === "resolved" || acknowledged === false ? [] : [{ phase: 2, state_rank: 1 } as const]),
]

/** The phase of an incident that changes too often to be moved: its own row says the rest. */
const BUSY_PHASE = 3

/** The phases of a filter, and the incidents whose acknowledgement ran out while their timer has not dealt with it. */
const standing = (filter: IncidentFilter) => {
  const { acknowledged, at, severity, state } = filter
  const ranks = severity === undefined ? Object.values(SEVERITY_RANK) : [SEVERITY_RANK[severity]]
  const phases = phasesOf(filter)
  const ranOut: ReadonlyArray<Fragment> =
    acknowledged === false && state !== "resolved" && at !== undefined
      ? [{ sql: "r.ack_until <= ?", values: [at] }]
      : []
  const inForce: ReadonlyArray<Fragment> =
    acknowledged === true && at !== undefined ? [{ sql: "r.ack_until > ?", values: [at] }] : []
  return {
    ranOut,
    inForce,
    isOfSeverity: isOneOf("r.severity_rank", ranks),
    isOfPhase: isOneOf(
      "r.phase",
      phases.map(({ phase }) => phase),
    ),
    phases,
    partitionsOf: (some: typeof phases) => [
      some.map(({ phase, state_rank }) => [...fixed("phase", phase), ...fixed("state_rank", state_rank)]),
      partition("severity_rank", ranks),
    ],
  }
}

/** Incidents by the check that opened them, by other members, and the few that no index has in order. */
export const planIncidents = (filter: IncidentFilter): ListPlan => {
  const { inForce, isOfPhase, isOfSeverity, partitionsOf, phases, ranOut } = standing(filter)
  const { agent_id, check_id } = filter
  const ofOpener = [...fixed("opener_agent_id", agent_id), ...fixed("opener_check_id", check_id)]
  // The empty text stands for all agents, and all checks.
  const ofMember = [...fixed("agent_id", agent_id ?? ""), ...fixed("check_id", check_id ?? "")]
  const ended = (part: Pick<ListPart, "fixed" | "by">): ReadonlyArray<ListPart> =>
    ranOut.map(({ sql, values }) => ({
      ...part,
      few: { sql: `r.state = 'open' AND ${sql}`, values },
      index: "incident_by_ack_end",
      conditions: [constant("r.phase = 2"), isOfSeverity],
      isSorted: true,
    }))
  const partitions = partitionsOf(phases)
  if (agent_id === undefined && check_id === undefined)
    return { parts: [{ fixed: [], partitions, conditions: inForce }, ...ended({ fixed: [] })] }
  const apart = (condition: string, some: typeof phases, index?: string): ReadonlyArray<ListPart> =>
    some.length === 0
      ? []
      : [
          {
            fixed: ofOpener,
            partitions: partitionsOf(some),
            conditions: [constant(condition), ...inForce],
            ...(index !== undefined && { index }),
          },
        ]
  const ofOpen = agent_id === undefined ? "incident_open_of_check" : "incident_open_of_agent"
  const opened = [
    ...apart(
      "r.phase = 0",
      phases.filter(({ phase }) => phase === 0),
    ),
    ...apart(
      "r.phase > 0",
      phases.filter(({ phase }) => phase > 0),
      ofOpen,
    ),
  ]
  const isOrWas = [isOfPhase, ...ranOut.map(({ sql, values }) => ({ sql: `r.phase = 2 AND ${sql}`, values }))]
  const busy: ListPart = {
    fixed: [...ofMember, ...fixed("phase", BUSY_PHASE)],
    by: "listed_member",
    conditions: [
      {
        sql: `(${isOrWas.map(({ sql }) => sql).join(" OR ")})`,
        values: isOrWas.flatMap(({ values }) => values),
      },
      isOfSeverity,
      ...inForce,
    ],
    isSorted: true,
  }
  return {
    parts: [
      ...opened,
      ...ended({ fixed: ofOpener }),
      { fixed: ofMember, partitions, conditions: inForce, by: "listed_member" },
      ...ended({ fixed: [...ofMember, ...fixed("phase", 2)], by: "listed_member" }),
      busy,
    ],
  }
}
