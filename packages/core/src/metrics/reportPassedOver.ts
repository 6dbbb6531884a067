import { Effect } from "effect"
import type { AgentId } from "../contract/Identifiers.ts"
import { CurrentInstruments, type Instruments } from "./Instruments.ts"

/** Work on many agents that passes over those which somebody else holds. */
export type ManyAgents = keyof Instruments["agentsPassedOver"]

const WORK: Readonly<Record<ManyAgents, string>> = {
  accept_all: "accepting all pending agents",
  block_all: "blocking all pending keys",
  dead_agents: "looking for dead agents",
  history: "removing old history",
  remove_all: "removing all pending agents",
}

/** Counts agents that such work left undone because another session holds their rows, and logs one of them. */
export const reportPassedOver = Effect.fnUntraced(function* (
  work: ManyAgents,
  agents: ReadonlyArray<AgentId>,
) {
  const [first] = agents
  if (first === undefined) return
  const { agentsPassedOver } = yield* CurrentInstruments
  agentsPassedOver[work].value += agents.length
  yield* Effect.logWarning(
    `${WORK[work]} skipped ${agents.length} locked by another session, such as ${first}: find that session in pg_stat_activity and end it`,
  )
})
