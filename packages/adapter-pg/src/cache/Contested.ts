import type { AgentId } from "@tocsin/contract/Identifiers"

/**
 * An agent that is stale this often in a row is probably served by several replicas in turn:
 * caching costs more than it saves.
 */
const STALE_TIMES = 2

/** Such an agent is decided on locked rows for this many transactions, and then cached again. */
const SHUNNED_FOR = 32

/** The most agents noted. Dropping the oldest costs two stale decisions. */
const NOTED = 10_000

interface Note {
  readonly stale: number
  readonly shunned: number
}

/**
 * Agents not worth caching, because other processes change them between two commands of this one.
 */
export class Contested {
  readonly #notes = new Map<AgentId, Note>()

  /** Notes that an agent's cached rows were stale. */
  note(agentId: AgentId): void {
    const stale = (this.#notes.get(agentId)?.stale ?? 0) + 1
    this.#set(agentId, { stale, shunned: stale >= STALE_TIMES ? SHUNNED_FOR : 0 })
  }

  /** Notes that they were current. */
  clear(agentId: AgentId): void {
    this.#notes.delete(agentId)
  }

  /** Whether to leave an agent uncached after a transaction; counts the transaction. */
  isShunned(agentId: AgentId): boolean {
    const note = this.#notes.get(agentId)
    if (note === undefined || note.shunned === 0) return false
    this.#set(agentId, { ...note, shunned: note.shunned - 1 })
    return true
  }

  #set(agentId: AgentId, note: Note): void {
    this.#notes.delete(agentId)
    this.#notes.set(agentId, note)
    for (const oldest of this.#notes.keys()) {
      if (this.#notes.size <= NOTED) return
      this.#notes.delete(oldest)
    }
  }
}
