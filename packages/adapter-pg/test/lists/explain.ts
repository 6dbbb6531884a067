import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { PageStatement } from "../../src/lists/pageStatement.ts"

/** A node of a plan as EXPLAIN shows it; the actual values are of a plan that was run. */
export interface PlanNode {
  readonly "Node Type": string
  readonly "Relation Name"?: string | undefined
  readonly Alias?: string | undefined
  readonly Operation?: string | undefined
  readonly "TID Cond"?: string | undefined
  readonly "Actual Rows"?: number | undefined
  readonly "Actual Loops"?: number | undefined
  readonly "Rows Removed by Filter"?: number | undefined
  readonly "Rows Removed by Index Recheck"?: number | undefined
  readonly Plans?: ReadonlyArray<PlanNode> | undefined
}

const PlanNode: Schema.Codec<PlanNode> = Schema.suspend(() =>
  Schema.Struct({
    "Node Type": Schema.String,
    "Relation Name": Schema.optional(Schema.String),
    Alias: Schema.optional(Schema.String),
    Operation: Schema.optional(Schema.String),
    "TID Cond": Schema.optional(Schema.String),
    "Actual Rows": Schema.optional(Schema.Number),
    "Actual Loops": Schema.optional(Schema.Number),
    "Rows Removed by Filter": Schema.optional(Schema.Number),
    "Rows Removed by Index Recheck": Schema.optional(Schema.Number),
    Plans: Schema.optional(Schema.Array(PlanNode)),
  }),
)

const Explanation = Schema.Tuple([Schema.Struct({ Plan: PlanNode })])
const decode = Schema.decodeUnknownSync(Explanation)

/** Runs a statement, and returns all nodes of its plan. */
export const explain = (sql: SqlClient.SqlClient, { text, values }: PageStatement) =>
  Effect.map(
    sql.unsafe<{ "QUERY PLAN": unknown }>(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`, values)
      .unprepared,
    (rows) => planNodes(rows[0]?.["QUERY PLAN"]),
  )

/** All nodes of a plan that EXPLAIN returned as JSON. */
export const planNodes = (explanation: unknown): ReadonlyArray<PlanNode> =>
  nodesOf(decode(explanation)[0].Plan)

const nodesOf = (node: PlanNode): ReadonlyArray<PlanNode> => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** How many rows of tables were read, those included that a filter dropped. */
export const rowsRead = (nodes: ReadonlyArray<PlanNode>): number =>
  nodes
    .filter((node) => node["Relation Name"] !== undefined)
    .reduce((sum, node) => {
      const dropped = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0)
      return sum + ((node["Actual Rows"] ?? 0) + dropped) * (node["Actual Loops"] ?? 1)
    }, 0)
