import type { Instant } from "../contract/Instant.ts"
import { type Command, decideSync } from "../workspace/Decision.ts"
import { Workspace, type WorkspaceChanges } from "../workspace/Workspace.ts"
import { loadRows } from "./loadRows.ts"
import type { MemoryTables } from "./MemoryTables.ts"
import { persistChanges } from "./persistChanges.ts"

/** What a command replied, and what it changed. */
export interface Transacted<A> {
  readonly reply: A
  readonly changes: WorkspaceChanges
}

/** Runs a command on tables in memory: all of it, or, where a decision throws, nothing. */
export const transact = <A>(tables: MemoryTables, command: Command<A>, now: Instant): Transacted<A> => {
  const workspace = new Workspace()
  const reply = decideSync(command(workspace, now), (scope) => loadRows(tables, workspace, scope, now))
  const changes = workspace.changes()
  persistChanges(tables, changes)
  return { reply, changes }
}
