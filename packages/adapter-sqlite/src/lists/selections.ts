import { NotificationType, OutboxState } from "@tocsin/contract/Status"
import { SEVERITY_RANK } from "@tocsin/core/model/MemberRecord"
import type { ListFilters, ListName } from "@tocsin/core/model/ListDefinitions"
import type { SQLInputValue } from "node:sqlite"

/** A constant piece of a statement with the values of its parameters. */
export interface Fragment {
  readonly sql: string
  readonly values: ReadonlyArray<SQLInputValue>
}

/** A column that has one value in all rows that are selected. */
export interface Fixed {
  readonly column: string
  readonly value: string | number
}

/** A leading column of a list's indexes, with the few values that it can have. */
interface Partition {
  readonly column: string
  readonly values: ReadonlyArray<string | number>
}

/** What a filter leaves of the table of a list, and how an index serves its orders. */
export interface Selection {
  /** The tables. That of the list is `r`. */
  readonly from: Fragment
  readonly conditions: ReadonlyArray<Fragment>
  readonly fixed: ReadonlyArray<Fixed>
  /**
   * The columns before the order in the index that serves it. Where a filter leaves such a column
   * open, each of its values is read separately and SQLite merges them. Thus one index for each
   * order serves every filter.
   */
  readonly partitions: ReadonlyArray<Partition>
}

/** Values that occur in a table, and are not known before. */
export interface Occurring {
  /** The notifiers of outbox items. */
  readonly notifiers: ReadonlyArray<string>
}

type Select<L extends ListName> = (filter: ListFilters[L], occurring: Occurring, sort: string) => Selection

const STATE_RANK = { open: 1, resolved: 0 } as const

/** Hides rows of deleted agents. The rows come first, in their order, each with a lookup of its agent. */
const PRESENT = "CROSS JOIN agent AS a ON a.agent_id = r.agent_id AND a.registration_id = r.registration_id"

/** A piece without parameters. */
const constant = (sql: string): Fragment => ({ sql, values: [] })

const fixed = (column: string, value: string | number | undefined): ReadonlyArray<Fixed> =>
  value === undefined ? [] : [{ column, value }]

const plain = (from: string, parts: Partial<Selection> = {}): Selection => ({
  from: constant(from),
  conditions: [],
  fixed: [],
  partitions: [],
  ...parts,
})

const history: Select<"history"> = ({ agent_id, check_id }) => {
  const ofCheck = fixed("check_id", check_id)
  if (agent_id === undefined) return plain(`check_event AS r ${PRESENT}`, { fixed: ofCheck })
  const isOfAgent = {
    sql: "r.registration_id = (SELECT registration_id FROM agent WHERE agent_id = ?)",
    values: [agent_id],
  }
  return plain("check_event AS r", { conditions: [isOfAgent], fixed: ofCheck })
}

/** An older version may have left the acknowledgement of a resolved incident. */
const ACKNOWLEDGED = "r.ack_until IS NOT NULL AND r.state = 'open'"

const incidents: Select<"incidents"> = ({ state, severity, agent_id, check_id, acknowledged }) => {
  const ranks = [
    ...fixed("state_rank", state && STATE_RANK[state]),
    ...fixed("severity_rank", severity && SEVERITY_RANK[severity]),
  ]
  const member = [...fixed("agent_id", agent_id), ...fixed("check_id", check_id)]
  const conditions =
    acknowledged === undefined ? [] : [constant(acknowledged ? ACKNOWLEDGED : `NOT (${ACKNOWLEDGED})`)]
  if (member.length > 0) return plain("", { from: incidentsOf(member), conditions, fixed: ranks })
  // Only these are sorted: an index holds no others.
  if (acknowledged === true)
    return plain("incident AS r INDEXED BY incident_acknowledged", { conditions, fixed: ranks })
  return plain("incident AS r", {
    conditions,
    fixed: ranks,
    partitions: [
      { column: "state_rank", values: Object.values(STATE_RANK) },
      { column: "severity_rank", values: Object.values(SEVERITY_RANK) },
    ],
  })
}

/** The incidents in which such a check is or was a member. Only these are sorted. */
const incidentsOf = (member: ReadonlyArray<Fixed>): Fragment => ({
  sql: `(SELECT DISTINCT incident_id FROM incident_member
    WHERE ${member.map(({ column }) => `${column} = ?`).join(" AND ")}) AS m
    CROSS JOIN incident AS r ON r.id = m.incident_id`,
  values: member.map(({ value }) => value),
})

const HELD = "r.look_at IS NOT NULL AND r.state = 'pending'"

const outbox: Select<"outbox"> = ({ state, notifier, event_type, held }, { notifiers }, sort) => {
  const ofKind = [...fixed("notifier", notifier), ...fixed("event_type", event_type)]
  const given = [...fixed("state", state), ...ofKind]
  const kinds = [
    { column: "notifier", values: notifiers },
    { column: "event_type", values: NotificationType.literals },
  ]
  // Only these are sorted: an index holds no others.
  if (held === true)
    return plain("outbox AS r INDEXED BY outbox_held", { conditions: [constant(HELD)], fixed: given })
  // In a storm under a silence, all but a few of the pending ones are held.
  if (held === false && state === "pending" && sort === "created_at")
    return plain("outbox AS r INDEXED BY outbox_waiting", {
      conditions: [constant("r.state = 'pending' AND r.look_at IS NULL")],
      fixed: ofKind,
      partitions: kinds,
    })
  return plain("outbox AS r", {
    conditions: held === undefined ? [] : [constant(`NOT (${HELD})`)],
    fixed: given,
    partitions: [{ column: "state", values: OutboxState.literals }, ...kinds],
  })
}

/** Rows of one subject are looked up one by one, and only these are sorted. */
const audit: Select<"audit"> = ({ action, actor, subject }) => {
  const parts = { fixed: [...fixed("actor", actor), ...fixed("action", action)] }
  if (subject === undefined) return plain("audit AS r", parts)
  const from = {
    sql: `(SELECT audit_id FROM audit_subject WHERE subject_id = ?) AS s
    CROSS JOIN audit AS r ON r.id = s.audit_id`,
    values: [subject],
  }
  return plain("", { ...parts, from })
}
/** The silences of a state at a moment, which is given twice. */
const OF_STATE = {
  scheduled: "(r.starts_at > ? AND r.ends_at > ?)",
  active: "(r.starts_at <= ? AND r.ends_at > ?)",
  expired: "(r.ends_at <= ? AND r.ends_at <= ?)",
} as const

/** How each list is selected from its table. */
export const selections: { readonly [L in ListName]: Select<L> } = {
  agents: () => plain("agent AS r"),
  checks: ({ agent_id }) => plain(`check_state AS r ${PRESENT}`, { fixed: fixed("agent_id", agent_id) }),
  overdue: ({ agent_id }) =>
    plain(`expectation AS r ${PRESENT}`, {
      conditions: [constant("r.incident_id IS NOT NULL")],
      fixed: fixed("agent_id", agent_id),
    }),
  history,
  incidents,
  outbox,
  operators: () => plain("operator AS r"),
  audit,
  silences: ({ at, state }) =>
    plain("silence AS r", {
      conditions: state === undefined || at === undefined ? [] : [{ sql: OF_STATE[state], values: [at, at] }],
    }),
  blacklist: () => plain("agent_key AS r", { conditions: [constant("r.state = 'blocked'")] }),
}
