import { NotificationType, OutboxState } from "@tocsin/contract/Status"
import type { ListFilters, ListName, PageRequest, SortValue } from "../../model/ListDefinitions.ts"
import { SEVERITY_RANK } from "../../model/MemberRecord.ts"
import { wordsOf } from "./searchWords.ts"

/** A column that has one value in all rows that are selected. */
export interface Fixed {
  readonly column: string
  readonly value: string | number
}

/** A piece of SQL that both databases understand; `?` stands for each of its values. */
export interface Fragment {
  readonly sql: string
  readonly values: ReadonlyArray<SortValue>
}

/** Leading columns of a list's indexes, with the few values that they can have together. */
type Partition = ReadonlyArray<ReadonlyArray<Fixed>>

/** Rows of a list's table `r` that are read alike. Each database makes its statement of them. */
export interface ListPart {
  /** Columns of `by`, if there is one. */
  readonly fixed: ReadonlyArray<Fixed>
  /** The columns before the order in its index. Each value of an open one is read apart, and merged. */
  readonly partitions?: ReadonlyArray<Partition>
  readonly conditions?: ReadonlyArray<Fragment>
  /** The words of a search, which passes through the rows and stops at a full page. */
  readonly searched?: { readonly text: string; readonly words: ReadonlyArray<string> }
  /** Rows of deleted agents are not listed, though they may not be removed yet. */
  readonly isOfPresentAgents?: true
  /** Whether the last result of each row's check is joined, as `c`. */
  readonly hasReported?: true
  /** Another table whose rows lead to those of the list by `id`. It has the order, unless the part is sorted. */
  readonly by?: "listed_member" | "audit_subject"
  /** No index has these rows in order. They are few, and sorted. */
  readonly isSorted?: true
  /** Finds few rows, before all other conditions. */
  readonly few?: Fragment
  /** An index of the list's table that a database without statistics would not choose. */
  readonly index?: string
}

/** How the pages of a list are read. A page of several parts is merged. */
export interface ListPlan {
  readonly parts: ReadonlyArray<ListPart>
  /** A leading column of the index whose values occur in the table, and are known to no list. */
  readonly occurring?: "notifier"
}

type Plan<L extends ListName> = (filter: ListFilters[L]) => ListPlan

const one = (part: Partial<ListPart>): ListPlan => ({ parts: [{ fixed: [], ...part }] })

const constant = (sql: string): Fragment => ({ sql, values: [] })

const fixed = (column: string, value: string | number | undefined): ReadonlyArray<Fixed> =>
  value === undefined ? [] : [{ column, value }]

const partition = (column: string, values: ReadonlyArray<string | number>): Partition =>
  values.map((value) => [{ column, value }])

const isOneOf = (expression: string, values: ReadonlyArray<number>): Fragment => ({
  sql: `${expression} IN (${values.map(() => "?").join(", ")})`,
  values,
})

/** Rows of agents that are present, or of one, by the leading columns of an index. */
const ofPresentAgents = (agentId: string | undefined) =>
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
const isFound = ({ search, status }: ListFilters["checks"], reported: "c" | "r") => ({
  conditions:
    status === undefined || status === "not_ok" ? [] : [{ sql: `${reported}.status = ?`, values: [status] }],
  searched: {
    text: `lower(r.agent_id || '/' || r.check_id || ' ' || coalesce(${reported}.summary, ''))`,
    words: wordsOf(search),
  },
})

/** The few checks that are not ok have an index. */
const checks: Plan<"checks"> = (filter) => {
  const present = ofPresentAgents(filter.agent_id)
  const found = isFound(filter, "r")
  const conditions = [...present.conditions, ...found.conditions]
  return filter.status === undefined || filter.status === "ok"
    ? one({ ...present, ...found, conditions })
    : one({
        ...present,
        ...found,
        conditions: [constant("r.status <> 'ok'"), ...conditions],
        index: "check_state_not_ok",
      })
}

const overdue: Plan<"overdue"> = (filter) => {
  const present = ofPresentAgents(filter.agent_id)
  const found = isFound(filter, "c")
  const conditions = [
    constant("r.incident_id IS NOT NULL"),
    ...(filter.status === "not_ok" ? [constant("c.status IS DISTINCT FROM 'ok'")] : []),
    ...present.conditions,
    ...found.conditions,
  ]
  return one({ ...present, ...found, conditions, hasReported: true })
}

const history: Plan<"history"> = ({ agent_id, check_id }) => {
  const present = ofPresentAgents(agent_id)
  return one({ ...present, fixed: [...present.fixed, ...fixed("check_id", check_id)] })
}

/**
 * The phases of incidents that a filter leaves, each with its `state_rank`. Storages keep the phase in
 * front of each index of incidents, so that no page passes over incidents of another.
 */
const phasesOf = ({
  acknowledged,
  state,
}: ListFilters["incidents"]): ReadonlyArray<{ readonly phase: number; readonly state_rank: 0 | 1 }> => [
  ...(state === "open" || acknowledged === true ? [] : [{ phase: 0, state_rank: 0 } as const]),
  ...(state === "resolved" || acknowledged === true ? [] : [{ phase: 1, state_rank: 1 } as const]),
  ...(state === "resolved" || acknowledged === false ? [] : [{ phase: 2, state_rank: 1 } as const]),
]

/** The phase of an incident that changes too often to be moved: its own row says the rest. */
const BUSY_PHASE = 3

/** The phases of a filter, and the incidents whose acknowledgement ran out while their timer has not dealt with it. */
const standing = (filter: ListFilters["incidents"]) => {
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
    partitions: [
      phases.map(({ phase, state_rank }) => [...fixed("phase", phase), ...fixed("state_rank", state_rank)]),
      partition("severity_rank", ranks),
    ],
  }
}

/** Incidents by the check that opened them, by other members, and the few that no index has in order. */
const incidents: Plan<"incidents"> = (filter) => {
  const { inForce, isOfPhase, isOfSeverity, partitions, ranOut } = standing(filter)
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
  const opened = [{ fixed: ofOpener, partitions, conditions: inForce }, ...ended({ fixed: ofOpener })]
  if (agent_id === undefined && check_id === undefined) return { parts: opened }
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
      { fixed: ofMember, partitions, conditions: inForce, by: "listed_member" },
      ...ended({ fixed: [...ofMember, ...fixed("phase", 2)], by: "listed_member" }),
      busy,
    ],
  }
}

/** The states that storages index notifications by: `held` is a part of pending. */
export const LISTED_STATES: ReadonlyArray<string> = [...OutboxState.literals, "held"]

const listedStatesOf = ({ held, state }: ListFilters["outbox"]): ReadonlyArray<string> => {
  const ofState =
    state === undefined
      ? LISTED_STATES
      : LISTED_STATES.filter((each) => (each === "held" ? "pending" : each) === state)
  return held === undefined ? ofState : ofState.filter((each) => (each === "held") === held)
}

const outbox: Plan<"outbox"> = ({ event_type, notifier, ...filter }) => {
  const part = {
    fixed: fixed("notifier", notifier),
    partitions: [
      partition("listed_state", listedStatesOf(filter)),
      partition("event_type", event_type === undefined ? NotificationType.literals : [event_type]),
    ],
  }
  return notifier === undefined ? { parts: [part], occurring: "notifier" } : { parts: [part] }
}

/** Rows of one subject have an index in order for each set of other filters. */
const audit: Plan<"audit"> = ({ action, actor, subject }) =>
  one({
    fixed: [...fixed("subject_id", subject), ...fixed("actor", actor), ...fixed("action", action)],
    ...(subject === undefined ? {} : { by: "audit_subject" }),
  })

type PlannedFilter = Omit<ListFilters["announcements"], "state"> & { readonly state?: string | undefined }

/** Few planned rows have not ended. They are found by their end, and sorted. */
const planned =
  (index: string, over: string, end = "r.ends_at") =>
  ({ at, page, state }: PlannedFilter): ListPlan => {
    const ofPage = { fixed: fixed("page", page) }
    if (state === undefined || at === undefined) return one(ofPage)
    if (state === over) return one({ ...ofPage, conditions: [{ sql: "r.ends_at <= ?", values: [at] }] })
    return one({
      ...ofPage,
      few: { sql: `${end} > ?`, values: [at] },
      index,
      conditions: [{ sql: `r.starts_at ${state === "scheduled" ? ">" : "<="} ?`, values: [at] }],
      isSorted: true,
    })
  }

const blacklist: Plan<"blacklist"> = () => one({ conditions: [constant("r.state = 'blocked'")] })

/** The plans of lists; the others have all rows. */
const plans: { readonly [L in ListName]?: Plan<L> } = {
  checks,
  overdue,
  history,
  incidents,
  outbox,
  audit,
  silences: planned("silence_by_end", "expired"),
  announcements: planned("announcement_by_end_order", "ended", "r.ends_order"),
  blacklist,
}

/** How a page is read: as data, of which each database makes its statement. */
export const listPlan = <L extends ListName>({ filter, list }: PageRequest<L>): ListPlan => {
  const plan: Plan<L> | undefined = plans[list]
  return plan === undefined ? one({}) : plan(filter)
}
