import { BUSY_PHASE, phasesOf, ranOutBy, startBeyond } from "@tocsin/core/engine/lists/arms"
import { orderColumns, type PageRequest, type SortValue } from "@tocsin/core/model/ListDefinitions"
import { SEVERITY_RANK } from "@tocsin/core/model/MemberRecord"
import { incidentTable } from "../tables/IncidentTable.ts"
import { type PageStatement, Parameters } from "./selections.ts"

/** Before and after every moment and ID. */
const LEAST: readonly [SortValue, SortValue] = [-9_223_372_036_854_775_808n, ""]
const GREATEST: readonly [SortValue, SortValue] = [9_223_372_036_854_775_807n, "\u{10ffff}"]

type Request = PageRequest<"incidents">

const isAscending = ({ direction, isBackward }: Request): boolean => (direction === "asc") !== isBackward

const columnsOf = ({ sort }: Request): ReadonlyArray<string> =>
  orderColumns("incidents", sort).map(({ name }) => name)

const ranksOf = ({ filter: { severity } }: Request): ReadonlyArray<number> =>
  severity === undefined ? Object.values(SEVERITY_RANK) : [SEVERITY_RANK[severity]]

/** Where the page starts in the incidents of one phase and severity, which an index has in order. */
interface Arm {
  readonly phase: number
  readonly severity_rank: number
  readonly start: ReadonlyArray<SortValue>
}

const armsOf = (request: Request): ReadonlyArray<Arm> => {
  const order = { columns: columnsOf(request), isAscending: isAscending(request) }
  return phasesOf(request.filter).flatMap(({ phase, state_rank }) =>
    ranksOf(request).flatMap((severity_rank) => {
      const fixed = [
        { column: "state_rank", value: state_rank },
        { column: "severity_rank", value: severity_rank },
      ]
      const found = startBeyond(request.from, fixed, order)
      if (found === undefined) return []
      const end = order.isAscending ? LEAST : GREATEST
      const start = found.compared.length === 0 ? end : found.compared.map(({ value }) => value)
      return [{ phase, severity_rank, start }]
    }),
  )
}

/** Whose incidents: the empty text stands for all agents, and all checks. The phase makes an index in order usable. */
const ofSubject = (
  alias: string,
  { filter: { agent_id, check_id } }: Request,
  parameters: Parameters,
): string =>
  `${alias}.agent_id = ${parameters.add(agent_id ?? "", "text")}
    AND ${alias}.check_id = ${parameters.add(check_id ?? "", "text")} AND ${alias}.phase >= 0`

/** Whether the acknowledgement of a listed incident, which is looked up by its ID, ends after a moment or by then. */
const ackEnds = (operator: ">" | "<=", moment: string): string =>
  `(SELECT ack_until FROM incident WHERE id = l.id) ${operator} ${moment}`

const isInForce = ({ filter: { acknowledged, at } }: Request, parameters: Parameters): string =>
  acknowledged === true && at !== undefined ? `AND ${ackEnds(">", parameters.add(at, "int8"))}` : ""

const beyond = (request: Request): string =>
  `${isAscending(request) ? ">" : "<"}${request.from?.isInclusive === true ? "=" : ""}`

/** The first rows of each arm: one range of an index each. */
const inOrder = (request: Request, parameters: Parameters): string => {
  const arms = armsOf(request)
  const values = (index: 0 | 1) => arms.map(({ start }) => start[index])
  const phases = parameters.add(
    arms.map(({ phase }) => phase),
    "int2[]",
  )
  const ranks = parameters.add(
    arms.map(({ severity_rank }) => severity_rank),
    "int2[]",
  )
  const starts = [phases, ranks, parameters.add(values(0), "int8[]"), parameters.add(values(1), "text[]")]
  const moment = request.sort === "resolved_at" ? "resolved_order" : "opened_at"
  const direction = isAscending(request) ? "ASC" : "DESC"
  return `SELECT found.* FROM unnest(${starts.join(", ")}) AS arm (phase, severity_rank, moment, id)
    CROSS JOIN LATERAL (
      SELECT l.* FROM listed_incident AS l
      WHERE ${ofSubject("l", request, parameters)} AND l.phase = arm.phase AND l.severity_rank = arm.severity_rank
        AND (l.${moment}, l.id) ${beyond(request)} (arm.moment, arm.id) ${isInForce(request, parameters)}
      ORDER BY l.${moment} ${direction}, l.id ${direction} LIMIT ${parameters.add(request.limit, "int8")}
    ) AS found`
}

/** The few incidents of an agent or a check that change too often for the index to have them in order. */
const busy = (request: Request, parameters: Parameters): string => {
  const phases = phasesOf(request.filter).map(({ phase }) => phase)
  const ranOut = ranOutBy(request.filter)
  const hasRunOut =
    ranOut === undefined ? "" : `OR l.phase = 2 AND ${ackEnds("<=", parameters.add(ranOut, "int8"))}`
  return `SELECT l.* FROM listed_incident AS b
    CROSS JOIN LATERAL (
      SELECT * FROM listed_incident WHERE id = b.id AND agent_id = '' AND check_id = '' OFFSET 0
    ) AS l
    WHERE ${ofSubject("b", request, parameters)} AND b.phase = ${BUSY_PHASE}
      AND (l.phase = ANY(${parameters.add(phases, "int2[]")}) ${hasRunOut})
      ${unordered(request, parameters)} ${isInForce(request, parameters)}`
}

/** The few incidents whose acknowledgement has run out, and whose timer has not dealt with it. */
const afterEnd = (request: Request, ranOut: bigint, parameters: Parameters): string =>
  `SELECT l.* FROM (
      SELECT id FROM incident WHERE state = 'open' AND ack_until <= ${parameters.add(ranOut, "int8")} OFFSET 0
    ) AS i CROSS JOIN LATERAL (
      SELECT * FROM listed_incident AS m WHERE m.id = i.id AND ${ofSubject("m", request, parameters)} OFFSET 0
    ) AS l
    WHERE l.phase = 2 ${unordered(request, parameters)}`

/** The conditions on incidents that no index has in order. */
const unordered = (request: Request, parameters: Parameters): string => {
  const position = request.from?.values.map((value) =>
    parameters.add(value, typeof value === "string" ? "text" : "int8"),
  )
  const columns = columnsOf(request).map((column) => `l.${column}`)
  const start =
    position === undefined ? "" : `AND (${columns.join(", ")}) ${beyond(request)} (${position.join(", ")})`
  return `AND l.severity_rank = ANY(${parameters.add(ranksOf(request), "int2[]")}) ${start}`
}

/**
 * The statement of a page of incidents. Its cost depends on neither the number of incidents nor how
 * rare the wanted ones are.
 */
export const incidentPage = (request: Request): PageStatement => {
  const parameters = new Parameters()
  const direction = isAscending(request) ? "ASC" : "DESC"
  const order = `ORDER BY ${columnsOf(request)
    .map((column) => `l.${column} ${direction}`)
    .join(", ")}`
  const { agent_id, check_id } = request.filter
  const ranOut = ranOutBy(request.filter)
  const others = [
    ...(agent_id === undefined && check_id === undefined ? [] : [busy(request, parameters)]),
    ...(ranOut === undefined ? [] : [afterEnd(request, ranOut, parameters)]),
  ]
  const text = `SELECT ${incidentTable.columns} FROM (
      SELECT * FROM (${[inOrder(request, parameters), ...others].join(" UNION ALL ")}) AS l
      ${order} LIMIT ${parameters.add(request.limit, "int8")}
    ) AS l CROSS JOIN LATERAL (SELECT * FROM incident WHERE id = l.id OFFSET 0) AS i ${order}`
  return { text, values: parameters.values }
}
