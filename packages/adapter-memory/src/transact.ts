import type { Instant } from "@tocsin/contract/Instant"
import { type Command, decideSync } from "@tocsin/core/engine/unitOfWork/Decision"
import { UnitOfWork, type UnitOfWorkChanges } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import { loadRows } from "./loadRows.ts"
import type { MemoryTables } from "./MemoryTables.ts"
import { persistChanges } from "./persistChanges.ts"

/** The reply of a command, and its changes. */
export interface Transacted<A> {
  readonly reply: A
  readonly changes: UnitOfWorkChanges
}

/** Runs a command on tables in memory. If a decision throws, nothing changes. */
export const transact = <A>(tables: MemoryTables, command: Command<A>, now: Instant): Transacted<A> => {
  const unit = new UnitOfWork()
  const reply = decideSync(command(unit, now), (request) => loadRows(tables, unit, request, now))
  const changes = unit.changes()
  persistChanges(tables, changes)
  return { reply, changes }
}
