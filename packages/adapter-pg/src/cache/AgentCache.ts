import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { AgentId, CheckId } from "@tocsin/core/contract/Identifiers"
import type { RowVersion } from "../transactions/Loading.ts"
import { Contested } from "./Contested.ts"

/** A row and its version. */
export interface Versioned<Row> {
  readonly row: Row
  readonly version: RowVersion
}

/** An agent and those of its checks that are known, as they were when this process last saw or wrote them. */
export interface CachedAgent {
  readonly agent: AgentRecord
  readonly version: RowVersion
  readonly checks: ReadonlyMap<CheckId, Versioned<CheckRecord>>
}

interface Entry extends CachedAgent {
  readonly checks: Map<CheckId, Versioned<CheckRecord>>
  readonly knownAt: number
}

/** What a committed transaction left of one agent, and of those checks of it that it saw; `undefined` where there is none. */
export interface KnownAgent {
  readonly agent: Versioned<AgentRecord>
  /** The version of the agent that the transaction found, whose checks it found with it. */
  readonly found: RowVersion
  readonly checks: Iterable<readonly [CheckId, Versioned<CheckRecord> | undefined]>
}

/** Ids of transactions come again after 2³² of them, which takes longer than this at a million a second. */
const LONGEST_REST_MILLIS = 3_600_000

/**
 * Rows of agents that this process may decide on, provided that the statement that writes the decision verifies their
 * versions. At most `maxRows` agents and checks; those that were not used for longest make room.
 */
export class AgentCache {
  readonly #maxRows: number
  readonly #entries = new Map<AgentId, Entry>()
  readonly #contested = new Contested()
  readonly #beingWritten = new Set<AgentId>()
  #rows = 0
  #serverRun: string | null | undefined

  constructor(maxRows: number) {
    this.#maxRows = maxRows
  }

  /**
   * In which run of the server the versions were read. After a crash it may give the id of a transaction that was lost to
   * another one, so versions of different runs are not compared.
   */
  get serverRun(): string | null {
    return this.#serverRun ?? null
  }

  /** What is known of an agent. */
  find(agentId: AgentId): CachedAgent | undefined {
    const entry = this.#entries.get(agentId)
    if (entry === undefined) return undefined
    if (performance.now() - entry.knownAt > LONGEST_REST_MILLIS) {
      this.drop(agentId)
      return undefined
    }
    return entry
  }

  /**
   * Notes what a transaction left of an agent, in that run of the server. Checks that it did not look at stay known only where
   * it found the agent as it was known: every change of a check changes its agent too.
   */
  keep({ agent, checks, found }: KnownAgent, serverRun: string | null): void {
    if (this.#maxRows === 0) return
    if (this.#serverRun !== serverRun) this.clear()
    this.#serverRun = serverRun
    const { agent_id } = agent.row
    const former = this.#entries.get(agent_id)
    if (former === undefined && this.#contested.isShunned(agent_id)) return
    this.#remove(agent_id)
    const entry: Entry = {
      agent: agent.row,
      version: agent.version,
      checks: former?.version === found ? former.checks : new Map(),
      knownAt: performance.now(),
    }
    for (const [checkId, check] of checks) {
      if (check === undefined) entry.checks.delete(checkId)
      else entry.checks.set(checkId, check)
    }
    this.#entries.set(agent_id, entry)
    this.#rows += 1 + entry.checks.size
    this.#makeRoom()
  }

  /** Whether a statement is writing an agent: its cached rows are about to change. */
  isBeingWritten(agentId: AgentId): boolean {
    return this.#beingWritten.has(agentId)
  }

  /** Notes agents that a statement is about to write. */
  beginWriting(agentIds: Iterable<AgentId>): void {
    for (const agentId of agentIds) this.#beingWritten.add(agentId)
  }

  /** Notes that the statement has ended. */
  endWriting(agentIds: Iterable<AgentId>): void {
    for (const agentId of agentIds) this.#beingWritten.delete(agentId)
  }

  /** Forgets an agent whose rows turned out to be others: somebody else changes them too. */
  dropStale(agentId: AgentId): void {
    this.#contested.note(agentId)
    this.drop(agentId)
  }

  /** Notes that an agent's rows turned out to be those that were known. */
  confirm(agentId: AgentId): void {
    this.#contested.clear(agentId)
  }

  /** Forgets an agent. */
  drop(agentId: AgentId): void {
    this.#remove(agentId)
  }

  /** Forgets all. */
  clear(): void {
    this.#entries.clear()
    this.#rows = 0
  }

  #remove(agentId: AgentId): void {
    const entry = this.#entries.get(agentId)
    if (entry === undefined) return
    this.#entries.delete(agentId)
    this.#rows -= 1 + entry.checks.size
  }

  #makeRoom(): void {
    for (const agentId of this.#entries.keys()) {
      if (this.#rows <= this.#maxRows) return
      this.#remove(agentId)
    }
  }
}
