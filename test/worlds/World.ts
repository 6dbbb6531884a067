import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type Command, decideSync } from "@tocsin/core/kernel/unitOfWork/Decision"
import type { UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { openUnit } from "@tocsin/core/lists/openUnit"
import { keyedNames } from "@tocsin/core/lists/StoredTables"
import { MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { answerFrom, persistChanges } from "@tocsin/adapter-memory/transact"
import type { ClaimedItem } from "@tocsin/core/heart/notifications/claimOutbox"
import type { Claim } from "@tocsin/core/heart/notifications/recordResults"

/** The agents of small worlds: interchangeable. */
export const AGENTS = [AgentId.make("agent-a"), AgentId.make("agent-b")] as const

/** A server process: what it has begun, and lost if it restarts. */
export interface Replica {
  /** Commands that it may still begin. */
  readonly left: number
  /** The attempt under way. */
  readonly attempt: ClaimedItem | undefined
  /** The claims whose lease had expired at its last claim, until it ends them. */
  readonly expired: ReadonlyArray<Claim>
  /** The agents that a search of this kind found, until it acts on them. */
  readonly found:
    | { readonly work: "sweep" | "accept all"; readonly agents: ReadonlyArray<AgentId> }
    | undefined
}

/** All that there is: what is stored, what the processes remember, and the time. */
export interface World {
  readonly tables: MemoryTables
  readonly now: Instant.Instant
  readonly replicas: ReadonlyArray<Replica>
}

/** A copy whose rows are shared: rows never change. */
const copyOf = (tables: MemoryTables): MemoryTables => {
  const copy = new MemoryTables()
  for (const name of Object.keys(tables) as ReadonlyArray<keyof MemoryTables>) {
    const [from, to]: [unknown, unknown] = [tables[name], copy[name]]
    if (from instanceof Map && to instanceof Map) fill(to, from)
    else if (from instanceof Set && to instanceof Set) for (const value of from) to.add(value)
  }
  for (const kind of ["named", "automatic"] as const)
    fill(copy.openIncidents[kind], tables.openIncidents[kind])
  for (const name of keyedNames) fill(copy.keyed[name], tables.keyed[name])
  return Object.assign(copy, {
    pendingAgents: tables.pendingAgents,
    lastSeq: tables.lastSeq,
  })
}

const fill = (to: Map<unknown, unknown>, from: ReadonlyMap<unknown, unknown>): void => {
  for (const [key, value] of from) {
    if (value instanceof Map) to.set(key, new Map(value))
    else if (value instanceof Set) to.set(key, new Set(value))
    else to.set(key, Array.isArray(value) ? [...value] : value)
  }
}

/** The outcome of a step, for the laws. */
export interface Stepped<A> {
  readonly world: World
  readonly reply: A
  readonly changes: UnitOfWorkChanges
}

/** Runs a command in a copy of a world. */
export const inWorld = <A>({ now, replicas, tables }: World, command: Command<A>): Stepped<A> => {
  const copy = copyOf(tables)
  const unit = openUnit()
  const reply = decideSync(command(unit, now), (step) => answerFrom(copy, unit, step, now))
  const changes = unit.changes()
  persistChanges(copy, changes)
  return { world: { tables: copy, now, replicas }, reply, changes }
}

/** A copy of a world, to change what no command changes. */
export const copied = (world: World): World => ({ ...world, tables: copyOf(world.tables) })

/** Nothing is stored, and each process may begin so many commands. */
export const emptyWorld = (...commands: ReadonlyArray<number>): World => ({
  tables: new MemoryTables(),
  now: Instant.fromMillis(1_900_000_000_000),
  replicas: commands.map((left) => ({ left, attempt: undefined, expired: [], found: undefined })),
})
