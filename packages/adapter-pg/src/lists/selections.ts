import { NotificationType } from "@tocsin/contract/Status"
import { listedStatesOf } from "@tocsin/core/engine/lists/listPlan"
import { wordsOf } from "@tocsin/core/engine/lists/searchWords"
import type { ListFilters, ListName, PageRequest } from "@tocsin/core/model/ListDefinitions"

/** A statement that reads one page, made of constant fragments; every value is a parameter. */
export interface PageStatement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

/** The rows that a filter leaves of a list's table, and how an index serves its orders. */
export interface Selection {
  /** The source of the table's alias, where it is more than the table. */
  readonly from?: string
  readonly conditions?: ReadonlyArray<string>
  /** Columns that a condition fixes to one value: an order leaves them out. */
  readonly fixed?: ReadonlySet<string>
  /** The expression in the index for a column of the order, where it is not the column. */
  readonly expressions?: Readonly<Record<string, string>>
  /** Leading columns of the index, each with a set of values: a page of each combination, merged. */
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
  add(value: unknown, type: "text" | "text[]" | "int2[]" | "int8" | "int8[]"): string {
    this.#values.push(value)
    return `$${this.#values.length}::${type}`
  }
}

type Select<L extends ListName> = (filter: ListFilters[L], parameters: Parameters) => Selection

/**
 * Rows of a deleted agent are not listed, though they may not be removed yet. OFFSET 0 makes
 * PostgreSQL look up each row's agent alone: it would plan a join as if hardly any row had an agent.
 */
const ofPresentAgents = (table: string): string =>
  `${table} AS r CROSS JOIN LATERAL (
    SELECT FROM agent WHERE agent_id = r.agent_id AND registration_id = r.registration_id OFFSET 0
  ) AS present`

/** The same for one agent, as conditions on the leading columns of an index. */
const ofAgent = (agentId: string): ReadonlyArray<string> => [
  `r.agent_id = ${agentId}`,
  `r.registration_id = (SELECT registration_id FROM agent WHERE agent_id = ${agentId})`,
]

/** The table `reported` has the last result of a check. A search passes through the rows, and stops at a full page. */
const isFound = (
  { search, status }: ListFilters["checks"],
  reported: "c" | "r",
  parameters: Parameters,
): ReadonlyArray<string> => [
  ...(status === undefined || status === "not_ok"
    ? []
    : [`${reported}.status = ${parameters.add(status, "text")}`]),
  ...wordsOf(search).map(
    (word) =>
      `strpos(lower(r.agent_id || '/' || r.check_id || ' ' || coalesce(${reported}.summary, '')), ${parameters.add(word, "text")}) > 0`,
  ),
]

/** The few checks that are not ok have an index. */
const checks: Select<"checks"> = ({ agent_id, ...filter }, parameters) => {
  const conditions = [
    ...(filter.status === undefined || filter.status === "ok" ? [] : ["r.status <> 'ok'"]),
    ...isFound(filter, "r", parameters),
  ]
  return agent_id === undefined
    ? { from: ofPresentAgents("check_state"), conditions }
    : {
        conditions: [...ofAgent(parameters.add(agent_id, "text")), ...conditions],
        fixed: new Set(["agent_id"]),
      }
}

/** A check that never reported has no row in the second table; each is looked up alone. */
const REPORTED = `LEFT JOIN LATERAL (
    SELECT status, summary FROM check_state
    WHERE agent_id = r.agent_id AND check_id = r.check_id AND registration_id = r.registration_id OFFSET 0
  ) AS c ON TRUE`

const overdue: Select<"overdue"> = ({ agent_id, ...filter }, parameters) => {
  const conditions = [
    "r.incident_id IS NOT NULL",
    ...(filter.status === "not_ok" ? ["c.status IS DISTINCT FROM 'ok'"] : []),
    ...isFound(filter, "c", parameters),
  ]
  return agent_id === undefined
    ? { from: `${ofPresentAgents("expectation")} ${REPORTED}`, conditions }
    : {
        from: `expectation AS r ${REPORTED}`,
        conditions: [...conditions, ...ofAgent(parameters.add(agent_id, "text"))],
        fixed: new Set(["agent_id"]),
      }
}

const history: Select<"history"> = ({ agent_id, check_id }, parameters) => {
  const ofCheck = check_id === undefined ? [] : [`r.check_id = ${parameters.add(check_id, "text")}`]
  // The primary key serves the whole list, and must not serve a part of it.
  const expressions = { seq: "(r.seq + 0)" }
  if (agent_id !== undefined) {
    return { expressions, conditions: [...ofAgent(parameters.add(agent_id, "text")), ...ofCheck] }
  }
  const from = ofPresentAgents("check_event")
  return check_id === undefined ? { from } : { expressions, from, conditions: ofCheck }
}

/** One index lookup per notifier, however many items there are. Programs bring notifiers: no list has them. */
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

const NOTIFIERS_OF_STATE = notifiersOf("o.listed_state = of_listed_state.listed_state")

const outbox: Select<"outbox"> = ({ event_type, notifier, ...filter }, parameters) => {
  const oneOf = (values: ReadonlyArray<string>) => `unnest(${parameters.add(values, "text[]")})`
  return {
    spread: [
      { name: "listed_state", values: oneOf(listedStatesOf(filter)) },
      { name: "notifier", values: notifier === undefined ? NOTIFIERS_OF_STATE : oneOf([notifier]) },
      {
        name: "event_type",
        values: oneOf(event_type === undefined ? NotificationType.literals : [event_type]),
      },
    ],
  }
}

/** Rows of one subject have an index in order for each set of other filters. */
const audit: Select<"audit"> = ({ action, actor, subject }, parameters) => {
  const alias = subject === undefined ? "r" : "s"
  const conditions = [
    ...(actor === undefined ? [] : [`${alias}.actor = ${parameters.add(actor, "text")}`]),
    ...(action === undefined ? [] : [`${alias}.action = ${parameters.add(action, "text")}`]),
  ]
  if (subject === undefined) return { conditions }
  const from = `audit_subject AS s
    CROSS JOIN LATERAL (SELECT * FROM audit WHERE id = s.audit_id OFFSET 0) AS r`
  return {
    from,
    conditions: [`s.subject_id = ${parameters.add(subject, "text")}`, ...conditions],
    expressions: { recorded_at: "s.recorded_at", id: "s.audit_id" },
  }
}

/** Few silences are scheduled or active. They are found by their end, and sorted. */
const silences: Select<"silences"> = ({ at, state }, parameters) => {
  if (state === undefined || at === undefined) return {}
  const now = parameters.add(at, "int8")
  const from = `(SELECT * FROM silence AS s WHERE s.ends_at > ${now} OFFSET 0) AS r`
  const ofState = {
    scheduled: { from, conditions: [`r.starts_at > ${now}`] },
    active: { from, conditions: [`r.starts_at <= ${now}`] },
    expired: { conditions: [`r.ends_at <= ${now}`] },
  }
  return ofState[state]
}

const blacklist: Select<"blacklist"> = () => ({ conditions: ["r.state = 'blocked'"] })

/** How lists are selected from their tables; the others have all rows. */
const selections: { readonly [L in ListName]?: Select<L> } = {
  checks,
  overdue,
  history,
  outbox,
  audit,
  silences,
  blacklist,
}

export const selectionOf = <L extends ListName>(
  { filter, list }: PageRequest<L>,
  parameters: Parameters,
): Selection => {
  const select: Select<L> | undefined = selections[list]
  return select?.(filter, parameters) ?? {}
}
