import { NotificationType } from "@tocsin/contract/Status"
import { listedStatesOf, wordsOf } from "@tocsin/core/engine/lists/arms"
import type { ListFilters, ListName } from "@tocsin/core/model/ListDefinitions"

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
const ofPresentAgents = (table: string, alias: string): string =>
  `${table} AS ${alias} CROSS JOIN LATERAL (
    SELECT FROM agent WHERE agent_id = ${alias}.agent_id AND registration_id = ${alias}.registration_id OFFSET 0
  ) AS present`

/** The same for one agent, as conditions on the leading columns of an index. */
const ofAgent = (alias: string, agentId: string): ReadonlyArray<string> => [
  `${alias}.agent_id = ${agentId}`,
  `${alias}.registration_id = (SELECT registration_id FROM agent WHERE agent_id = ${agentId})`,
]

/** The few checks that are not ok have an index. A search passes through the rows, and stops at a full page. */
const checks: Select<"checks"> = ({ agent_id, search, status }, parameters) => {
  const conditions = [
    ...(status === undefined || status === "ok" ? [] : ["c.status <> 'ok'"]),
    ...(status === undefined || status === "not_ok" ? [] : [`c.status = ${parameters.add(status, "text")}`]),
    ...wordsOf(search).map(
      (word) =>
        `strpos(lower(c.agent_id || '/' || c.check_id || ' ' || coalesce(c.summary, '')), ${parameters.add(word, "text")}) > 0`,
    ),
  ]
  return agent_id === undefined
    ? { from: ofPresentAgents("check_state", "c"), conditions }
    : {
        conditions: [...ofAgent("c", parameters.add(agent_id, "text")), ...conditions],
        fixed: new Set(["agent_id"]),
      }
}

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
  const alias = subject === undefined ? "u" : "s"
  const conditions = [
    ...(actor === undefined ? [] : [`${alias}.actor = ${parameters.add(actor, "text")}`]),
    ...(action === undefined ? [] : [`${alias}.action = ${parameters.add(action, "text")}`]),
  ]
  if (subject === undefined) return { conditions }
  const from = `audit_subject AS s
    CROSS JOIN LATERAL (SELECT * FROM audit WHERE id = s.audit_id OFFSET 0) AS u`
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
  const from = `(SELECT * FROM silence AS q WHERE q.ends_at > ${now} OFFSET 0) AS q`
  const ofState = {
    scheduled: { from, conditions: [`q.starts_at > ${now}`] },
    active: { from, conditions: [`q.starts_at <= ${now}`] },
    expired: { conditions: [`q.ends_at <= ${now}`] },
  }
  return ofState[state]
}

/** How each list is selected from its table. */
export const selections: { readonly [L in Exclude<ListName, "incidents">]: Select<L> } = {
  agents: () => ({}),
  checks,
  overdue,
  history,
  outbox,
  operators: () => ({}),
  integrations: () => ({}),
  enrolments: () => ({}),
  watches: () => ({}),
  audit,
  silences,
  blacklist: () => ({ conditions: ["k.state = 'blocked'"] }),
}
