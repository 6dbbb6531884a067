import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type * as Instant from "@tocsin/contract/formats/Instant"
import { Effect } from "effect"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import type { Read } from "../connection/SqliteFailures.ts"
import { IS_SILENT } from "../tables/AgentTable.ts"

/** How many agents one step of a scan reads: half a millisecond in which no request is answered. */
const STEP = 2_000

/** Sorts after all text. */
const END = new Uint8Array()

/** Prepares `Storage.staleAgents`: a scan of all agents, step by step. Between two steps, requests are answered. */
export const makeStaleAgents = (connection: SqliteConnection, read: Read) => {
  const lastOfStep = connection.query<[AgentId]>(
    `SELECT agent_id FROM agent WHERE agent_id > ? ORDER BY agent_id LIMIT 1 OFFSET ${STEP - 1}`,
  )
  const silentInStep = connection.query<[AgentId]>(
    `SELECT agent_id FROM agent
     WHERE agent_id > ?1 AND agent_id <= ?3 AND ((${IS_SILENT}) OR twice_at <= ?4) ORDER BY agent_id`,
  )
  return Effect.fnUntraced(function* (
    seenBefore: Instant.Instant,
    limit: number,
    twiceBefore?: Instant.Instant,
  ) {
    const step = (after: string) => {
      const last = lastOfStep.get(after)?.[0]
      return { silent: silentInStep.all(after, seenBefore, last ?? END, twiceBefore ?? null).flat(), last }
    }
    let found: ReadonlyArray<AgentId> = []
    // Every id comes after the empty text.
    let after = ""
    while (true) {
      const { last, silent } = yield* read(() => step(after))
      found = [...found, ...silent]
      if (last === undefined || found.length >= limit) return found.slice(0, limit)
      after = last
      yield* Effect.yieldNow
    }
  })
}
