import {
  BUSY_PHASE,
  type PageBounds,
  pageBounds,
  phasesOf,
  ranOutBy,
  startBeyond,
} from "@tocsin/core/engine/lists/listPlan"
import {
  orderColumns,
  type PageRequest,
  type Position,
  type SortValue,
} from "@tocsin/core/model/ListDefinitions"
import { SEVERITY_RANK } from "@tocsin/core/model/MemberRecord"
import { incidentTable } from "../tables/IncidentTable.ts"
import { type PageStatement, Parameters } from "./selections.ts"

/** Before and after every moment and ID. */
const LEAST: readonly [SortValue, SortValue] = [-9_223_372_036_854_775_808n, ""]
const GREATEST: readonly [SortValue, SortValue] = [9_223_372_036_854_775_807n, "\u{10ffff}"]

/** A page with the positions between which it lies. */
type Request = Omit<PageRequest<"incidents">, "from"> & PageBounds

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
      const found = startBeyond(request.start, fixed, order)
      if (found === undefined) return []
      const end = order.isAscending ? LEAST : GREATEST
      const start = found.compared.length === 0 ? end : found.compared.map(({ value }) => value)
      return [{ phase, severity_rank, start }]
    }),
  )
}

interface Source {
  readonly table: "incident" | "listed_member"
  readonly isOfSubject: (alias: string, request: Request, parameters: Parameters) => string
  /** When the acknowledgement of a row `l` ends. */
  readonly ackUntil: string
}

/** Incidents by the check that opened them. */
const byOpener: Source = {
  table: "incident",
  isOfSubject: (alias, { filter: { agent_id, check_id } }, parameters) =>
    [
      ...(agent_id === undefined ? [] : [`${alias}.opener_agent_id = ${parameters.add(agent_id, "text")}`]),
      ...(check_id === undefined ? [] : [`${alias}.opener_check_id = ${parameters.add(check_id, "text")}`]),
      `${alias}.phase >= 0`,
    ].join(" AND "),
  ackUntil: "l.ack_until",
}

/** Incidents by other members; the empty text stands for all. The phase makes an index in order usable. */
const byMember: Source = {
  table: "listed_member",
  isOfSubject: (alias, { filter: { agent_id, check_id } }, parameters) =>
    `${alias}.agent_id = ${parameters.add(agent_id ?? "", "text")}
    AND ${alias}.check_id = ${parameters.add(check_id ?? "", "text")} AND ${alias}.phase >= 0`,
  ackUntil: "(SELECT ack_until FROM incident WHERE id = l.id)",
}

const FOUND = "l.id, l.state_rank, l.severity_rank, l.opened_at, l.resolved_order"

const isInForce = (
  source: Source,
  { filter: { acknowledged, at } }: Request,
  parameters: Parameters,
): string =>
  acknowledged === true && at !== undefined ? `AND ${source.ackUntil} > ${parameters.add(at, "int8")}` : ""

const beyond = (request: Request): string =>
  `${isAscending(request) ? ">" : "<"}${request.start?.isInclusive === true ? "=" : ""}`

/** The condition for rows before the end; only a list by time has one. */
const before = (request: Request, parameters: Parameters): string => {
  const { end } = request
  if (end === undefined) return ""
  const columns = columnsOf(request).map((column) => `l.${column}`)
  const operator = `${isAscending(request) ? "<" : ">"}${end.isInclusive ? "=" : ""}`
  return `AND (${columns.join(", ")}) ${operator} (${placeholders(end, parameters)})`
}

const placeholders = ({ values }: Position, parameters: Parameters): string =>
  values.map((value) => parameters.add(value, typeof value === "string" ? "text" : "int8")).join(", ")

/** The first rows of each arm: one range of an index each. */
const inOrder = (source: Source, request: Request, parameters: Parameters): string => {
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
      SELECT ${FOUND} FROM ${source.table} AS l
      WHERE ${source.isOfSubject("l", request, parameters)} AND l.phase = arm.phase AND l.severity_rank = arm.severity_rank
        AND (l.${moment}, l.id) ${beyond(request)} (arm.moment, arm.id) ${before(request, parameters)} ${isInForce(source, request, parameters)}
      ORDER BY l.${moment} ${direction}, l.id ${direction} LIMIT ${parameters.add(request.limit, "int8")}
    ) AS found`
}

/** The few incidents of an agent or a check that change too often for the index to have them in order. */
const busy = (request: Request, parameters: Parameters): string => {
  const phases = phasesOf(request.filter).map(({ phase }) => phase)
  const ranOut = ranOutBy(request.filter)
  const hasRunOut =
    ranOut === undefined ? "" : `OR l.phase = 2 AND l.ack_until <= ${parameters.add(ranOut, "int8")}`
  return `SELECT ${FOUND} FROM listed_member AS b
    CROSS JOIN LATERAL (SELECT * FROM incident WHERE id = b.id OFFSET 0) AS l
    WHERE ${byMember.isOfSubject("b", request, parameters)} AND b.phase = ${BUSY_PHASE}
      AND (l.phase = ANY(${parameters.add(phases, "int2[]")}) ${hasRunOut})
      ${unordered(request, parameters)} ${isInForce(byOpener, request, parameters)}`
}

/** The few incidents whose acknowledgement has run out, and whose timer has not dealt with it. */
const afterEnd = (source: Source, request: Request, ranOut: bigint, parameters: Parameters): string =>
  `SELECT ${FOUND} FROM (
      SELECT id FROM incident WHERE state = 'open' AND ack_until <= ${parameters.add(ranOut, "int8")} OFFSET 0
    ) AS i CROSS JOIN LATERAL (
      SELECT * FROM ${source.table} AS m
      WHERE m.id = i.id AND ${source.isOfSubject("m", request, parameters)} OFFSET 0
    ) AS l
    WHERE l.phase = 2 ${unordered(request, parameters)}`

/** The conditions on incidents that no index has in order. */
const unordered = (request: Request, parameters: Parameters): string => {
  const columns = columnsOf(request).map((column) => `l.${column}`)
  const start =
    request.start === undefined
      ? ""
      : `AND (${columns.join(", ")}) ${beyond(request)} (${placeholders(request.start, parameters)})`
  return `AND l.severity_rank = ANY(${parameters.add(ranksOf(request), "int2[]")}) ${start} ${before(request, parameters)}`
}

/** The cost of a page depends on neither the number of incidents nor how rare the wanted ones are. */
export const incidentPage = (page: PageRequest<"incidents">): PageStatement => {
  const request = { ...page, ...pageBounds(page) }
  const parameters = new Parameters()
  const direction = isAscending(request) ? "ASC" : "DESC"
  const order = `ORDER BY ${columnsOf(request)
    .map((column) => `l.${column} ${direction}`)
    .join(", ")}`
  const { agent_id, check_id } = request.filter
  const ranOut = ranOutBy(request.filter)
  const isOfMember = agent_id !== undefined || check_id !== undefined
  const parts = (isOfMember ? [byOpener, byMember] : [byOpener]).flatMap((source) => [
    inOrder(source, request, parameters),
    ...(ranOut === undefined ? [] : [afterEnd(source, request, ranOut, parameters)]),
  ])
  const all = isOfMember ? [...parts, busy(request, parameters)] : parts
  const text = `SELECT ${incidentTable.columns} FROM (
      SELECT * FROM (${all.join(" UNION ALL ")}) AS l
      ${order} LIMIT ${parameters.add(request.limit, "int8")}
    ) AS l CROSS JOIN LATERAL (SELECT * FROM incident WHERE id = l.id OFFSET 0) AS i ${order}`
  return { text, values: parameters.values }
}
