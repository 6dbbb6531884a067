import type { Instant } from "@tocsin/contract/Instant"
import { type Command, decideSync } from "@tocsin/core/engine/workspace/Decision"
import { Workspace, type WorkspaceChanges } from "@tocsin/core/engine/workspace/Workspace"
import { loadRows } from "./loadRows.ts"
import type { MemoryTables } from "./MemoryTables.ts"
import { persistChanges } from "./persistChanges.ts"

/** The reply of a command, and its changes. */
export interface Transacted<A> {
  readonly reply: A
  readonly changes: WorkspaceChanges
}

/** Runs a command on tables in memory. If a decision throws, nothing changes. */
export const transact = <A>(tables: MemoryTables, command: Command<A>, now: Instant): Transacted<A> => {
  const workspace = new Workspace()
  const reply = decideSync(command(workspace, now), (request) => loadRows(tables, workspace, request, now))
  const changes = workspace.changes()
  persistChanges(tables, changes)
  return { reply, changes }
}
