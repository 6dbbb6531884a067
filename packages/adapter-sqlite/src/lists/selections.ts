import { NotificationType } from "@tocsin/contract/Status"
import {
  BUSY_PHASE,
  type Fixed,
  listedStatesOf,
  phasesOf,
  ranOutBy,
} from "@tocsin/core/engine/lists/listPlan"
import { wordsOf } from "@tocsin/core/engine/lists/searchWords"
import { SEVERITY_RANK } from "@tocsin/core/model/MemberRecord"
import {
  type ListFilters,
  type ListName,
  listShape,
  type PageRequest,
} from "@tocsin/core/model/ListDefinitions"
import type { SQLInputValue } from "node:sqlite"

/** A constant piece of a statement with the values of its parameters. */
export interface Fragment {
  readonly sql: string
  readonly values: ReadonlyArray<SQLInputValue>
}

/** Leading columns of a list's indexes, with the few values that they can have together. */
type Partition = ReadonlyArray<ReadonlyArray<Fixed>>

/** The rows that a filter leaves of a list's table, and how an index serves its orders. */
export interface Selection {
  /** The tables. That of the list is `r`. */
  readonly from: Fragment
  /** The table whose index has the order and the fixed columns. */
  readonly ordered: "r" | "l"
  readonly conditions: ReadonlyArray<Fragment>
  readonly fixed: ReadonlyArray<Fixed>
  /** The columns before the order in its index. Each value of an open one is read apart, and merged. */
  readonly partitions: ReadonlyArray<Partition>
  /** Rows from other tables, and the few that no index has in order: they are sorted. */
  readonly others?: ReadonlyArray<Selection>
}

/** Values that occur in a table, and are not known before. */
export interface Occurring {
  readonly notifiers: ReadonlyArray<string>
}

type Select<L extends ListName> = (filter: ListFilters[L], occurring: Occurring) => Selection

/** Hides rows of deleted agents. The rows come first, in their order, each with a lookup of its agent. */
const PRESENT = "CROSS JOIN agent AS a ON a.agent_id = r.agent_id AND a.registration_id = r.registration_id"

const constant = (sql: string): Fragment => ({ sql, values: [] })

const fixed = (column: string, value: string | number | undefined): ReadonlyArray<Fixed> =>
  value === undefined ? [] : [{ column, value }]

const plain = (from: string, parts: Partial<Selection> = {}): Selection => ({
  from: constant(from),
  ordered: "r",
  conditions: [],
  fixed: [],
  partitions: [],
  ...parts,
})

/** The table `reported` has the last result of a check. A search passes through the rows, and stops at a full page. */
const isFound = ({ search, status }: ListFilters["checks"], reported: "c" | "r"): ReadonlyArray<Fragment> => [
  ...(status === undefined || status === "not_ok"
    ? []
    : [{ sql: `${reported}.status = ?`, values: [status] }]),
  ...wordsOf(search).map((word) => ({
    sql: `instr(lower(r.agent_id || '/' || r.check_id || ' ' || coalesce(${reported}.summary, '')), ?) > 0`,
    values: [word],
  })),
]

/** The few checks that are not ok have an index. */
const checks: Select<"checks"> = (filter) => {
  const isFew = filter.status !== undefined && filter.status !== "ok"
  return plain(`check_state AS r ${isFew ? "INDEXED BY check_state_not_ok" : ""} ${PRESENT}`, {
    fixed: fixed("agent_id", filter.agent_id),
    conditions: [...(isFew ? [constant("r.status <> 'ok'")] : []), ...isFound(filter, "r")],
  })
}

const history: Select<"history"> = ({ agent_id, check_id }) => {
  const ofCheck = fixed("check_id", check_id)
  if (agent_id === undefined) return plain(`check_event AS r ${PRESENT}`, { fixed: ofCheck })
  const isOfAgent = {
    sql: "r.registration_id = (SELECT registration_id FROM agent WHERE agent_id = ?)",
    values: [agent_id],
  }
  return plain("check_event AS r", { conditions: [isOfAgent], fixed: ofCheck })
}

const partition = (column: string, values: ReadonlyArray<string | number>): Partition =>
  values.map((value) => [{ column, value }])

const incidents: Select<"incidents"> = (filter) => {
  const { agent_id, check_id } = filter
  const ranks =
    filter.severity === undefined ? Object.values(SEVERITY_RANK) : [SEVERITY_RANK[filter.severity]]
  const phases = phasesOf(filter)
  const ofOpener = [...fixed("opener_agent_id", agent_id), ...fixed("opener_check_id", check_id)]
  // The empty text stands for all agents, and all checks.
  const ofMember = [...fixed("agent_id", agent_id ?? ""), ...fixed("check_id", check_id ?? "")]
  const ranOut = ranOutBy(filter)
  const hasRunOut = ranOut === undefined ? [] : [{ sql: "r.ack_until <= ?", values: [ranOut] }]
  const inForce =
    filter.acknowledged === true && filter.at !== undefined
      ? [{ sql: "r.ack_until > ?", values: [filter.at] }]
      : []
  const inOrder = {
    conditions: inForce,
    partitions: [
      phases.map(({ phase, state_rank }) => [...fixed("phase", phase), ...fixed("state_rank", state_rank)]),
      partition("severity_rank", ranks),
    ],
  }
  const afterEnd = (from: string, subject: ReadonlyArray<Fragment>) => {
    const conditions = [
      constant("r.state = 'open' AND r.phase = 2"),
      ...hasRunOut,
      ...subject,
      isOneOf("r.severity_rank", ranks),
    ]
    return ranOut === undefined
      ? []
      : [plain(`incident AS r INDEXED BY incident_by_ack_end ${from}`, { conditions })]
  }
  const byOpener = plain("incident AS r", { ...inOrder, fixed: ofOpener })
  const endedOfOpener = afterEnd("", areEqual("r", ofOpener))
  if (agent_id === undefined && check_id === undefined) return { ...byOpener, others: endedOfOpener }
  const byMember: Selection = {
    ...plain("listed_member AS l CROSS JOIN incident AS r ON r.id = l.id", { ...inOrder, fixed: ofMember }),
    ordered: "l",
  }
  const busy = plain("listed_member AS b CROSS JOIN incident AS r ON r.id = b.id", {
    conditions: [
      ...areEqual("b", [...ofMember, ...fixed("phase", BUSY_PHASE)]),
      isAnyOf([
        isOneOf(
          "r.phase",
          phases.map(({ phase }) => phase),
        ),
        ...hasRunOut.map(({ sql, values }) => ({ sql: `r.phase = 2 AND ${sql}`, values })),
      ]),
      isOneOf("r.severity_rank", ranks),
      ...inForce,
    ],
  })
  const endedOfMember = afterEnd(
    "CROSS JOIN listed_member AS l ON l.id = r.id",
    areEqual("l", [...ofMember, ...fixed("phase", 2)]),
  )
  return { ...byOpener, others: [...endedOfOpener, byMember, ...endedOfMember, busy] }
}

export const areEqual = (table: string, columns: ReadonlyArray<Fixed>): ReadonlyArray<Fragment> =>
  columns.map(({ column, value }) => ({ sql: `${table}.${column} = ?`, values: [value] }))

const isAnyOf = (conditions: ReadonlyArray<Fragment>): Fragment => ({
  sql: `(${conditions.map(({ sql }) => sql).join(" OR ")})`,
  values: conditions.flatMap(({ values }) => values),
})

const isOneOf = (expression: string, values: ReadonlyArray<number>): Fragment => ({
  sql: `${expression} IN (${values.map(() => "?").join(", ")})`,
  values,
})

const outbox: Select<"outbox"> = ({ event_type, notifier, ...filter }, { notifiers }) =>
  plain("outbox AS r", {
    partitions: [
      partition("listed_state", listedStatesOf(filter)),
      partition("notifier", notifier === undefined ? notifiers : [notifier]),
      partition("event_type", event_type === undefined ? NotificationType.literals : [event_type]),
    ],
  })

/** Rows of one subject have an index in order for each set of other filters. */
const audit: Select<"audit"> = ({ action, actor, subject }) => {
  const narrowed = {
    fixed: [...fixed("subject_id", subject), ...fixed("actor", actor), ...fixed("action", action)],
  }
  if (subject === undefined) return plain("audit AS r", narrowed)
  const found = "SELECT subject_id, audit_id AS id, recorded_at, actor, action FROM audit_subject"
  return { ...plain(`(${found}) AS l CROSS JOIN audit AS r ON r.id = l.id`, narrowed), ordered: "l" }
}
/** The silences of a state at a moment, which is given twice. Only those that have not ended are sorted. */
const OF_STATE = {
  scheduled: { from: "silence AS r INDEXED BY silence_by_end", isSo: "(r.starts_at > ? AND r.ends_at > ?)" },
  active: { from: "silence AS r INDEXED BY silence_by_end", isSo: "(r.starts_at <= ? AND r.ends_at > ?)" },
  expired: { from: "silence AS r", isSo: "(r.ends_at <= ? AND r.ends_at <= ?)" },
} as const

const silences: Select<"silences"> = ({ at, state }) => {
  if (state === undefined || at === undefined) return plain("silence AS r")
  const { from, isSo } = OF_STATE[state]
  return plain(from, { conditions: [{ sql: isSo, values: [at, at] }] })
}

/** A check that never reported has no row in the second table. */
const REPORTED = `LEFT JOIN check_state AS c
  ON c.agent_id = r.agent_id AND c.check_id = r.check_id AND c.registration_id = r.registration_id`

const overdue: Select<"overdue"> = (filter) =>
  plain(`expectation AS r ${PRESENT} ${REPORTED}`, {
    conditions: [
      constant("r.incident_id IS NOT NULL"),
      ...(filter.status === "not_ok" ? [constant("c.status IS NOT 'ok'")] : []),
      ...isFound(filter, "c"),
    ],
    fixed: fixed("agent_id", filter.agent_id),
  })

const blacklist: Select<"blacklist"> = () =>
  plain("agent_key AS r", { conditions: [constant("r.state = 'blocked'")] })

/** How lists are selected from their tables; the others have all rows. */
const selections: { readonly [L in ListName]?: Select<L> } = {
  checks,
  overdue,
  history,
  incidents,
  outbox,
  audit,
  silences,
  blacklist,
}

export const selectionOf = <L extends ListName>(
  { filter, list }: PageRequest<L>,
  occurring: Occurring,
): Selection => {
  const select: Select<L> | undefined = selections[list]
  return select === undefined ? plain(`${listShape(list).name} AS r`) : select(filter, occurring)
}
