import { Array as Arr, Duration, Effect } from "effect"
import type { Commits } from "./Commits.ts"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import { CurrentInstruments, type InstrumentsOf } from "../metrics/Instruments.ts"
import type { Command, Decision } from "../../unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../unitOfWork/UnitOfWork.ts"
import type { AgentRecord } from "../../../heart/model/AgentRecord.ts"
import { storageMetrics } from "../metrics/storageMetrics.ts"

export interface WorkOnMany {
  readonly count: number
  readonly held: ReadonlyArray<AgentId>
}

/** Loads agents but those that another transaction locks: one hanging session stops no others. */
export function* skipLockedAgents(
  unit: UnitOfWork,
  ids: ReadonlyArray<AgentId>,
): Decision<{ readonly agents: ReadonlyArray<AgentRecord> } & Pick<WorkOnMany, "held">> {
  yield { agents: ids, skipLocked: true }
  const isLoaded = (id: AgentId) => unit.agents.isLoaded(id)
  return {
    agents: ids.filter(isLoaded).flatMap((id) => unit.agents.get(id) ?? []),
    held: ids.filter((id) => !isLoaded(id)),
  }
}

export type ManyAgents = keyof InstrumentsOf<typeof storageMetrics>["agentsPassedOver"]

const AGAIN = "the next pass handles them"

/** The work of each action, and the way in which skipped agents are handled after all. */
const WORK: Readonly<Record<ManyAgents, readonly [doing: string, next: string]>> = {
  accept_all: ["accepting all pending agents", "repeat it with tocsin agents accept --all"],
  block_all: ["blocking all pending keys", "repeat it with tocsin agents block --all"],
  dead_agents: ["looking for dead agents", AGAIN],
  history: ["removing old history", AGAIN],
  remove_all: ["removing all pending agents", "repeat it with tocsin agents remove --all"],
}

/** Counts the agents that a bulk action skipped, and logs one of them. */
export const reportPassedOver = Effect.fnUntraced(function* (
  work: ManyAgents,
  agents: ReadonlyArray<AgentId>,
) {
  const [first] = agents
  if (first === undefined) return
  const { agentsPassedOver } = (yield* CurrentInstruments).of(storageMetrics)
  agentsPassedOver[work].value += agents.length
  const [doing, next] = WORK[work]
  yield* Effect.logWarning(
    `${doing} skipped ${agents.length} locked for a second, such as ${first}: ${next}; if they stay locked, find sessions other than Tocsin's in pg_stat_activity`,
  )
})

/** A heartbeat locks its agent for milliseconds. Servers under load, or a hanging session, lock it for longer. */
const PASSES = 5
const BETWEEN_PASSES = Duration.millis(200)

interface Work {
  readonly name: ManyAgents
  readonly piece: (agents: ReadonlyArray<AgentId>) => Command<WorkOnMany>
  readonly limit: number
}

/** Retries skipped agents for a second, and reports those that stay locked. */
export const finishLocked = Effect.fnUntraced(function* (
  commits: Commits["Service"],
  { limit, name, piece }: Work,
  held: ReadonlyArray<AgentId>,
) {
  let count = 0
  let left = held
  for (let pass = 1; left.length > 0 && pass <= PASSES; pass++) {
    yield* Effect.sleep(BETWEEN_PASSES)
    const still: Array<AgentId> = []
    for (const some of Arr.chunksOf(left, limit)) {
      const result = yield* commits.transact(piece(some))
      count += result.count
      still.push(...result.held)
    }
    left = still
  }
  yield* reportPassedOver(name, left)
  return { count, skipped: left.length }
})
