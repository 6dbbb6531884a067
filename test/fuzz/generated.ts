import * as fc from "fast-check"
import { operationsOf } from "../openapi/OpenApi.ts"
import type { Judge } from "../openapi/Judge.ts"
import { requests } from "../openapi/requests.ts"
import { type Input, inputOf } from "./Input.ts"

/** Rows that every server of a round has. */
const POOLS = {
  OperatorName: ["ann", "bob"],
  name: ["ann", "bob"],
  AgentId: ["web", "db", "guest", "stranger"],
  CheckId: ["fine", "disk", "load", "odd", "brief"],
}

/** They take away what most other requests need. */
const DESTRUCTIVE = /^(?:deleteAgent|blockAgent|blockAll|removeAll)$/

/** Requests by the documents of a service: within, at the limits of and outside them. */
export const generated = (
  judges: ReadonlyArray<Judge>,
  { seed, count }: { readonly seed: number; readonly count: number },
): ReadonlyArray<Input> => {
  const all = judges.flatMap(({ document }) =>
    operationsOf(document).map((placed) => ({
      weight: DESTRUCTIVE.test(placed.operation.operationId) ? 1 : 4,
      arbitrary: requests(document, POOLS, placed),
    })),
  )
  // Most requests of agents: theirs is the way that has two mechanisms.
  const ofAgents = judges.flatMap(({ document }) =>
    operationsOf(document)
      .filter(({ operation }) => operation.security.some((requirement) => "agentKey" in requirement))
      .map((placed) => ({ weight: 60, arbitrary: requests(document, POOLS, placed) })),
  )
  return fc.sample(fc.oneof(...all, ...ofAgents), { seed, numRuns: count }).map(inputOf)
}
