import { Array as Arr, Duration, Effect } from "effect"
import type { Commits } from "./Commits.ts"
import type { AgentId } from "@tocsin/contract/Identifiers"
import { CurrentInstruments, type Instruments } from "../metrics/Instruments.ts"
import type { Command, Decision } from "../workspace/Decision.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import type { StorageError } from "../../ports/Storage.ts"
import type { AgentRecord } from "../../model/AgentRecord.ts"

/** The result of a bulk action on agents. */
export interface WorkOnMany {
  readonly count: number
  /** Agents skipped because another transaction locks them. */
  readonly held: ReadonlyArray<AgentId>
}

/**
 * Loads agents and skips those that another transaction locks, so that one hanging session does not
 * stop the action for all others. Returns the agents that exist, and the skipped ones, which stay
 * unloaded.
 */
export function* passHeldAgents(
  workspace: Workspace,
  ids: ReadonlyArray<AgentId>,
): Decision<{ readonly agents: ReadonlyArray<AgentRecord> } & Pick<WorkOnMany, "held">> {
  yield { agents: ids, passesHeld: true }
  const isLoaded = (id: AgentId) => workspace.agents.isLoaded(id)
  return {
    agents: ids.filter(isLoaded).flatMap((id) => workspace.agents.get(id) ?? []),
    held: ids.filter((id) => !isLoaded(id)),
  }
}

/** Bulk actions that skip locked agents. */
export type ManyAgents = keyof Instruments["agentsPassedOver"]

const WORK: Readonly<Record<ManyAgents, string>> = {
  accept_all: "accepting all pending agents",
  block_all: "blocking all pending keys",
  dead_agents: "looking for dead agents",
  history: "removing old history",
  remove_all: "removing all pending agents",
}

/** Counts the agents that a bulk action skipped, and logs one of them. */
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

/**
 * A heartbeat locks its agent for milliseconds; a lock that lasts a second comes from a hanging
 * session.
 */
const LOOKS = 5
const BETWEEN_LOOKS = Duration.millis(200)

interface Work {
  readonly name: ManyAgents
  readonly piece: (agents: ReadonlyArray<AgentId>) => Command<WorkOnMany>
  /** Agents per transaction. */
  readonly limit: number
}

/**
 * Retries skipped agents for a second, and reports those that stay locked. Returns how many it
 * handled.
 */
export const finishHeld = Effect.fnUntraced(function* (
  commits: Commits["Service"],
  { limit, name, piece }: Work,
  held: ReadonlyArray<AgentId>,
): Effect.fn.Return<number, StorageError> {
  let count = 0
  let left = held
  for (let look = 1; left.length > 0 && look <= LOOKS; look++) {
    yield* Effect.sleep(BETWEEN_LOOKS)
    const still: Array<AgentId> = []
    for (const some of Arr.chunksOf(left, limit)) {
      const result = yield* commits.transact(piece(some))
      count += result.count
      still.push(...result.held)
    }
    left = still
  }
  yield* reportPassedOver(name, left)
  return count
})
