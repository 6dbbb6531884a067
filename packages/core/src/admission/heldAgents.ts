import { Duration, Effect } from "effect"
import type { AgentId } from "../contract/Identifiers.ts"
import { CurrentInstruments, type Instruments } from "../engine/metrics/Instruments.ts"
import type { Command, Decision } from "../engine/workspace/Decision.ts"
import type { Workspace } from "../engine/workspace/Workspace.ts"
import type { Storage, StorageError } from "../ports/Storage.ts"

/** What a piece of work on many agents came to. */
export interface WorkOnMany {
  readonly count: number
  /** Agents that it passed over, because another transaction held them. */
  readonly held: ReadonlyArray<AgentId>
}

/**
 * Asks for agents, and passes over those that another transaction holds: one session that somebody forgot must not stop the
 * work on all others. Returns those that it passed over, which stay unloaded.
 */
export function* passHeldAgents(
  workspace: Workspace,
  agents: ReadonlyArray<AgentId>,
): Decision<ReadonlyArray<AgentId>> {
  yield { agents, passesHeld: true }
  return agents.filter((id) => !workspace.agents.isLoaded(id))
}

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

/** A heartbeat that is under way holds its agent for some milliseconds; what holds it for longer than a second hangs. */
const LOOKS = 5
const BETWEEN_LOOKS = Duration.millis(200)

/** Some work on many agents. */
interface Work {
  readonly name: ManyAgents
  readonly piece: (agents: ReadonlyArray<AgentId>) => Command<WorkOnMany>
  /** How many agents one piece takes. */
  readonly limit: number
}

/** Goes back to agents that work passed over, for a second. Reports those that are held all the time. Returns how many counted. */
export const finishHeld = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { limit, name, piece }: Work,
  held: ReadonlyArray<AgentId>,
): Effect.fn.Return<number, StorageError> {
  let count = 0
  let left = held
  for (let look = 1; left.length > 0 && look <= LOOKS; look++) {
    yield* Effect.sleep(BETWEEN_LOOKS)
    const still: Array<AgentId> = []
    for (let at = 0; at < left.length; at += limit) {
      const result = yield* storage.transact(piece(left.slice(at, at + limit)))
      count += result.count
      still.push(...result.held)
    }
    left = still
  }
  yield* reportPassedOver(name, left)
  return count
})
