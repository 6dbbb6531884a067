import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { ListFilters } from "@tocsin/core/lists/ListDefinitions"
import { RUNS_FACTOR } from "../propertyRuns.ts"
import { acknowledgedFilters } from "./acknowledgedFilters.ts"
import { BETWEEN } from "./population.ts"

export const [a, b] = [AgentId.make("a"), AgentId.make("b")]
export const [disk, cpu] = [CheckId.make("disk"), CheckId.make("cpu")]

export const DIRECTIONS = ["asc", "desc"] as const

const incidentFilters: ReadonlyArray<ListFilters["incidents"]> = [
  undefined,
  "open" as const,
  "resolved" as const,
]
  .flatMap((state) =>
    ([undefined, "warning", "critical", "unknown"] as const).map((severity) => ({ state, severity })),
  )
  .flatMap((filter) => [undefined, a, b, AgentId.make("nobody")].map((agent_id) => ({ ...filter, agent_id })))
  .flatMap((filter) => [undefined, disk, cpu].map((check_id) => ({ ...filter, check_id })))

/** The times between which a list by time lies: one, both, none or no row's. */
const SPANS = [{}, { from: BETWEEN.from }, BETWEEN, { from: BETWEEN.to, to: BETWEEN.from }]

/**
 * Each filter with each sort, between each two times and in each direction. A sample takes them in
 * turn: a stride without a factor in common with sorts, times and directions meets all of them.
 */
export const incidentLists = [...incidentFilters, ...acknowledgedFilters]
  .flatMap((filter) => (["status", "opened_at", "resolved_at"] as const).map((sort) => ({ filter, sort })))
  .flatMap((one) => (one.sort === "status" ? [{}] : SPANS).map((span) => ({ ...one, span })))
  .flatMap((one) => DIRECTIONS.map((direction) => ({ ...one, direction })))
  .filter((_, index) => RUNS_FACTOR >= 1 || index % 5 === 0)
