import { loadScope } from "@tocsin/adapter-memory/loadScope"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { persistChanges } from "@tocsin/adapter-memory/persistChanges"
import { readRows } from "@tocsin/adapter-memory/readRows"
import * as Instant from "@tocsin/core/contract/Instant"
import { Storage } from "@tocsin/core/ports/Storage"
import { decideSync } from "@tocsin/core/workspace/Decision"
import { Workspace } from "@tocsin/core/workspace/Workspace"
import { Effect } from "effect"
import { applyChanges, noRows } from "./Rows.ts"
import type { WatchedStorage } from "./watchedStorage.ts"

/** A storage in memory that commits commands in groups. */
export interface GroupedStorage extends WatchedStorage {
  /** Ends the group that is under way. */
  readonly commit: () => void
}

/**
 * Decides `groupSize` commands one after the other on one workspace, as the storages that commit in groups do. What only
 * reads, rather than decides, ends a group first.
 */
export const groupedStorage = (groupSize: number): GroupedStorage => {
  const tables = new MemoryTables()
  let workspace = new Workspace()
  let decided = 0
  let rows = noRows
  const commit = () => {
    const changes = workspace.changes()
    persistChanges(tables, changes)
    rows = applyChanges(rows, changes)
    workspace = new Workspace()
    decided = 0
  }
  const committed = <A>(read: () => A): Effect.Effect<A> =>
    Effect.sync(() => {
      commit()
      return read()
    })
  const storage = Storage.of({
    transact: (command) =>
      Effect.map(Instant.now, (now) => {
        const reply = decideSync(command(workspace, now), (scope) => loadScope(tables, workspace, scope))
        decided += 1
        if (decided === groupSize) commit()
        return reply
      }),
    page: (request) => committed(() => readRows(tables, request)),
    agent: (agentId) => committed(() => tables.agents.get(agentId)),
    agentsWithPendingKey: (after, limit) =>
      committed(() =>
        Array.from(tables.agents.values())
          .filter((agent) => agent.pending_key_hash !== undefined && (after === undefined || agent.agent_id > after))
          .map((agent) => agent.agent_id)
          .toSorted()
          .slice(0, limit),
      ),
    purge: () => Effect.succeed(0),
    counts: () => Effect.die("nothing here counts"),
    establish: () => Effect.die("nothing here is established"),
    probe: Effect.void,
  })
  return { storage, commit, rows: () => rows }
}
