import type { AgentId } from "@tocsin/core/contract/Identifiers"

/** Stale in a row so often, an agent is likely served by another replica in turn: guessing costs more than it gains. */
const STALE_TIMES = 2

/** For so many transactions such an agent is decided on locked rows; then the cache is tried once more. */
const SHUNNED_FOR = 32

/** Agents that are noted at most; the oldest are forgotten, which costs them two wasted guesses. */
const NOTED = 10_000

interface Note {
  readonly stale: number
  readonly shunned: number
}

/** Which agents are not worth caching, because others change them between two commands of this process. */
export class Contested {
  readonly #notes = new Map<AgentId, Note>()

  /** Notes that an agent's cached rows were stale. */
  note(agentId: AgentId): void {
    const stale = (this.#notes.get(agentId)?.stale ?? 0) + 1
    this.#set(agentId, { stale, shunned: stale >= STALE_TIMES ? SHUNNED_FOR : 0 })
  }

  /** Notes that they were not. */
  clear(agentId: AgentId): void {
    this.#notes.delete(agentId)
  }

  /** Whether the rows that a transaction brings are not to be kept; counts the transaction. */
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
