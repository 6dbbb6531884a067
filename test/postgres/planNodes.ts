import { Schema } from "effect"

/** A node of a plan as EXPLAIN shows it; the actual values are of a plan that was run. */
export interface PlanNode {
  readonly "Node Type": string
  readonly "Relation Name"?: string | undefined
  readonly Alias?: string | undefined
  readonly Operation?: string | undefined
  readonly "TID Cond"?: string | undefined
  readonly "Index Cond"?: string | undefined
  readonly "Actual Rows"?: number | undefined
  readonly "Actual Loops"?: number | undefined
  readonly "Rows Removed by Filter"?: number | undefined
  readonly "Rows Removed by Index Recheck"?: number | undefined
  readonly "Shared Hit Blocks"?: number | undefined
  readonly "Shared Read Blocks"?: number | undefined
  readonly Plans?: ReadonlyArray<PlanNode> | undefined
}

const text = Schema.optional(Schema.String)
const number = Schema.optional(Schema.Number)

const PlanNode: Schema.Codec<PlanNode> = Schema.suspend(() =>
  Schema.Struct({
    "Node Type": Schema.String,
    "Relation Name": text,
    Alias: text,
    Operation: text,
    "TID Cond": text,
    "Index Cond": text,
    "Actual Rows": number,
    "Actual Loops": number,
    "Rows Removed by Filter": number,
    "Rows Removed by Index Recheck": number,
    "Shared Hit Blocks": number,
    "Shared Read Blocks": number,
    Plans: Schema.optional(Schema.Array(PlanNode)),
  }),
)

const decode = Schema.decodeUnknownSync(Schema.Tuple([Schema.Struct({ Plan: PlanNode })]))

/** All nodes of a plan that EXPLAIN returned as JSON. */
export const planNodes = (explanation: unknown): ReadonlyArray<PlanNode> =>
  nodesOf(decode(explanation)[0].Plan)

const nodesOf = (node: PlanNode): ReadonlyArray<PlanNode> => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** How many rows a node returned, in all of its loops. */
export const rowsOf = (node: PlanNode): number => (node["Actual Rows"] ?? 0) * (node["Actual Loops"] ?? 1)

/** How many rows of tables were read, those included that a filter dropped. */
export const rowsRead = (nodes: ReadonlyArray<PlanNode>): number =>
  nodes
    .filter((node) => node["Relation Name"] !== undefined)
    .reduce((sum, node) => {
      const dropped = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0)
      return sum + rowsOf(node) + dropped * (node["Actual Loops"] ?? 1)
    }, 0)
