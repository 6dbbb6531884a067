import { NotificationType, OutboxState } from "@tocsin/contract/Status"
import { SEVERITY_RANK } from "@tocsin/core/model/MemberRecord"
import type { ListFilters, ListName } from "@tocsin/core/model/ListDefinitions"

/** What a filter leaves of the table of a list, and how an index serves its orders. */
export interface Selection {
  /** What the alias of the table is found in, where it is more than the table. */
  readonly from?: string
  readonly conditions?: ReadonlyArray<string>
  /** Columns that a condition fixes to one value: an order leaves them out. */
  readonly fixed?: ReadonlySet<string>
  /**
   * A column that the filter fixes and with which the serving index begins. A page beyond a position
   * compares it as part of that position, and bounds it on the other side only: by an equality
   * PostgreSQL would enter the index there, and walk to the position.
   */
  readonly first?: { readonly name: string; readonly value: string }
  /** The expression in the index for a column of the order, where it is not the column. */
  readonly expressions?: Readonly<Record<string, string>>
  /**
   * Leading columns of the index that serves the order, each with a set of values. The page is read
   * once for every combination, and the pages are merged. Its cost depends on neither the size of
   * the table nor the depth of the page nor how rare a value is.
   */
  readonly spread?: ReadonlyArray<SpreadColumn>
}

/** One leading column of an index. */
interface SpreadColumn {
  readonly name: string
  /** An expression for FROM with one column. It may name columns before it, as `of_NAME.NAME`. */
  readonly values: string
}

/** Collects the parameters of one statement: values become `$1`, `$2` and so on in its text. */
export class Parameters {
  readonly #values: Array<unknown> = []

  /** The values, in the order of their numbers. */
  get values(): ReadonlyArray<unknown> {
    return this.#values
  }

  /** Adds a value, and returns its placeholder, cast to `type`. */
  add(value: unknown, type: "text" | "text[]" | "int2[]" | "int8"): string {
    this.#values.push(value)
    return `$${this.#values.length}::${type}`
  }
}

type Select<L extends ListName> = (filter: ListFilters[L], parameters: Parameters, sort: string) => Selection

/**
 * Rows of a deleted agent are not listed, though they may not be removed yet. OFFSET 0 makes
 * PostgreSQL look up each row's agent alone: it would plan a join as if hardly any row had an agent.
 */
const ofPresentAgents = (table: string, alias: string): string =>
  `${table} AS ${alias} CROSS JOIN LATERAL (
    SELECT FROM agent WHERE agent_id = ${alias}.agent_id AND registration_id = ${alias}.registration_id OFFSET 0
  ) AS present`

/** The same for one agent, as conditions on the leading columns of an index. */
const ofAgent = (alias: string, agentId: string): ReadonlyArray<string> => [
  `${alias}.agent_id = ${agentId}`,
  `${alias}.registration_id = (SELECT registration_id FROM agent WHERE agent_id = ${agentId})`,
]

const checks: Select<"checks"> = ({ agent_id }, parameters) =>
  agent_id === undefined
    ? { from: ofPresentAgents("check_state", "c") }
    : { conditions: ofAgent("c", parameters.add(agent_id, "text")), fixed: new Set(["agent_id"]) }

const overdue: Select<"overdue"> = ({ agent_id }, parameters) => {
  const isOverdue = "x.incident_id IS NOT NULL"
  return agent_id === undefined
    ? { from: ofPresentAgents("expectation", "x"), conditions: [isOverdue] }
    : {
        conditions: [isOverdue, ...ofAgent("x", parameters.add(agent_id, "text"))],
        fixed: new Set(["agent_id"]),
      }
}

const history: Select<"history"> = ({ agent_id, check_id }, parameters) => {
  const ofCheck = check_id === undefined ? [] : [`e.check_id = ${parameters.add(check_id, "text")}`]
  // The primary key serves the whole list, and must not serve a part of it.
  const expressions = { seq: "(e.seq + 0)" }
  if (agent_id !== undefined) {
    return { expressions, conditions: [...ofAgent("e", parameters.add(agent_id, "text")), ...ofCheck] }
  }
  const from = ofPresentAgents("check_event", "e")
  return check_id === undefined ? { from } : { expressions, from, conditions: ofCheck }
}

const STATE_RANK = { open: 1, resolved: 0 } as const

/** An older version may have left the acknowledgement of a resolved incident. */
const ACKNOWLEDGED = "i.ack_until IS NOT NULL AND i.state = 'open'"

const incidents: Select<"incidents"> = (filter, parameters, sort) => {
  const { acknowledged, agent_id, check_id, severity, state } = filter
  const isSo = acknowledged === undefined ? [] : [acknowledged ? ACKNOWLEDGED : `NOT (${ACKNOWLEDGED})`]
  const states = state === undefined ? Object.values(STATE_RANK) : [STATE_RANK[state]]
  const severities = severity === undefined ? Object.values(SEVERITY_RANK) : [SEVERITY_RANK[severity]]
  const isOfMember = agent_id !== undefined || check_id !== undefined
  if (isOfMember || acknowledged === true) {
    return {
      // Only these are sorted: an index holds no others.
      from: isOfMember
        ? ofMembers(filter, parameters)
        : `(SELECT * FROM incident AS i WHERE ${ACKNOWLEDGED} OFFSET 0) AS i`,
      conditions: [
        ...isSo,
        `i.state_rank = ANY(${parameters.add(states, "int2[]")})`,
        `i.severity_rank = ANY(${parameters.add(severities, "int2[]")})`,
      ],
    }
  }
  if (sort !== "status") {
    return {
      conditions: isSo,
      spread: [
        { name: "state_rank", values: `unnest(${parameters.add(states, "int2[]")})` },
        { name: "severity_rank", values: `unnest(${parameters.add(severities, "int2[]")})` },
      ],
    }
  }
  if (state === undefined && severity !== undefined) {
    return {
      conditions: isSo,
      first: { name: "severity_rank", value: parameters.add(severities[0], "int8") },
    }
  }
  const fixed = [
    ...(state === undefined ? [] : [["state_rank", states[0]] as const]),
    ...(severity === undefined ? [] : [["severity_rank", severities[0]] as const]),
  ]
  return {
    conditions: [...isSo, ...fixed.map(([name, rank]) => `i.${name} = ${parameters.add(rank, "int8")}`)],
    fixed: new Set(fixed.map(([name]) => name)),
  }
}

/** Incidents in which such a check is or was a member. Each is looked up alone, so only they are sorted. */
const ofMembers = ({ agent_id, check_id }: ListFilters["incidents"], parameters: Parameters): string => {
  const conditions = [
    ...(agent_id === undefined ? [] : [`m.agent_id = ${parameters.add(agent_id, "text")}`]),
    ...(check_id === undefined ? [] : [`m.check_id = ${parameters.add(check_id, "text")}`]),
  ]
  return `(SELECT DISTINCT m.incident_id FROM incident_member AS m WHERE ${conditions.join(" AND ")}) AS met
    CROSS JOIN LATERAL (SELECT * FROM incident WHERE id = met.incident_id OFFSET 0) AS i`
}

/**
 * The notifiers of the items `o` that a condition names: the next greater name each time, one index
 * lookup per name, however many items there are. Programs bring notifiers, so the names are not known
 * before.
 */
export const notifiersOf = (condition: string): string => `(
    WITH RECURSIVE found AS (
      (SELECT o.notifier FROM outbox AS o WHERE ${condition} ORDER BY o.notifier LIMIT 1)
      UNION ALL
      SELECT (SELECT o.notifier FROM outbox AS o WHERE ${condition} AND o.notifier > found.notifier
        ORDER BY o.notifier LIMIT 1)
      FROM found WHERE found.notifier IS NOT NULL
    )
    SELECT notifier FROM found WHERE notifier IS NOT NULL
  )`

const NOTIFIERS_OF_STATE = notifiersOf("o.state = of_state.state")

const HELD = "o.look_at IS NOT NULL AND o.state = 'pending'"

const outbox: Select<"outbox"> = ({ state, notifier, event_type, held }, parameters) => {
  const oneOr = (one: string | undefined, all: ReadonlyArray<string>) =>
    `unnest(${parameters.add(one === undefined ? all : [one], "text[]")})`
  if (held === true) {
    const given = Object.entries({ state, notifier, event_type })
    return {
      // Only these are sorted: an index holds no others.
      from: `(SELECT * FROM outbox AS o WHERE ${HELD} OFFSET 0) AS o`,
      conditions: given.flatMap(([name, value]) =>
        value === undefined ? [] : [`o.${name} = ${parameters.add(value, "text")}`],
      ),
    }
  }
  return {
    conditions: held === undefined ? [] : [`NOT (${HELD})`],
    spread: [
      { name: "state", values: oneOr(state, OutboxState.literals) },
      { name: "notifier", values: notifier === undefined ? NOTIFIERS_OF_STATE : oneOr(notifier, []) },
      { name: "event_type", values: oneOr(event_type, NotificationType.literals) },
    ],
  }
}

/** Rows of one subject are looked up one by one, so only they are sorted. */
const audit: Select<"audit"> = ({ action, actor, subject }, parameters) => {
  const conditions = [
    ...(actor === undefined ? [] : [`u.actor = ${parameters.add(actor, "text")}`]),
    ...(action === undefined ? [] : [`u.action = ${parameters.add(action, "text")}`]),
  ]
  if (subject === undefined) return { conditions }
  const from = `audit_subject AS s
    CROSS JOIN LATERAL (SELECT * FROM audit WHERE id = s.audit_id OFFSET 0) AS u`
  return { from, conditions: [`s.subject_id = ${parameters.add(subject, "text")}`, ...conditions] }
}

const silences: Select<"silences"> = ({ at, state }, parameters) => {
  if (state === undefined || at === undefined) return {}
  const now = parameters.add(at, "int8")
  const ofState = {
    scheduled: [`q.starts_at > ${now}`, `q.ends_at > ${now}`],
    active: [`q.starts_at <= ${now}`, `q.ends_at > ${now}`],
    expired: [`q.ends_at <= ${now}`],
  }
  return { conditions: ofState[state] }
}

/** How each list is selected from its table. */
export const selections: { readonly [L in ListName]: Select<L> } = {
  agents: () => ({}),
  checks,
  overdue,
  history,
  incidents,
  outbox,
  operators: () => ({}),
  audit,
  silences,
  blacklist: () => ({ conditions: ["k.state = 'blocked'"] }),
}
