import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import { bytesAdded, bytesOfCheck } from "@tocsin/core/heart/model/heldBytes"
import type { RowVersion } from "../transactions/loadRows.ts"

/** Such an agent is probably served by several replicas in turn: caching costs more than it saves. */
const STALE_TIMES = 2

/** Such an agent is decided on locked rows for this many transactions, and then cached again. */
const SHUNNED_FOR = 32

/** The most agents noted. Dropping the oldest costs two stale decisions. */
const NOTED = 10_000

interface Note {
  readonly stale: number
  readonly shunned: number
}

/** Agents not worth caching, because other processes change them between two commands of this one. */
class Contested {
  readonly #notes = new Map<AgentId, Note>()

  note(agentId: AgentId): void {
    const stale = (this.#notes.get(agentId)?.stale ?? 0) + 1
    this.#set(agentId, { stale, shunned: stale >= STALE_TIMES ? SHUNNED_FOR : 0 })
  }

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

export interface Versioned<Row> {
  readonly row: Row
  readonly version: RowVersion
}

/** An agent and the checks of it that this process knows, as it last read or wrote them. */
export interface CachedAgent {
  readonly agent: AgentRecord
  readonly version: RowVersion
  readonly checks: ReadonlyMap<CheckId, Versioned<CheckRecord>>
}

interface Entry extends CachedAgent {
  readonly checks: Map<CheckId, Versioned<CheckRecord>>
  readonly knownAt: number
  bytes: number
}

/** An agent after a committed transaction, with the checks that it looked at; `undefined` if absent. */
export interface KnownAgent {
  readonly agent: Versioned<AgentRecord>
  /** The version of the agent when the transaction loaded it and its checks. */
  readonly found: RowVersion
  readonly checks: Iterable<readonly [CheckId, Versioned<CheckRecord> | undefined]>
}

/** Transaction ids repeat after 2³², which takes longer than this at a million per second. */
const LONGEST_REST_MILLIS = 3_600_000

/** Rows to decide on; the write verifies their versions. The least recently used are dropped. */
export class AgentCache {
  readonly #maxBytes: number
  /** A clock that never goes back, in milliseconds. */
  readonly #steady: () => number
  readonly #entries = new Map<AgentId, Entry>()
  readonly #contested = new Contested()
  readonly #beingWritten = new Set<AgentId>()
  #bytes = 0
  #serverRun: string | null | undefined

  constructor(maxBytes: number, steady: () => number = () => performance.now()) {
    this.#maxBytes = maxBytes
    this.#steady = steady
  }

  /** After a crash the server may reuse ids: versions of different runs are not compared. */
  get serverRun(): string | null {
    return this.#serverRun ?? null
  }

  find(agentId: AgentId): CachedAgent | undefined {
    const entry = this.#entries.get(agentId)
    if (entry === undefined) return undefined
    if (this.#steady() - entry.knownAt > LONGEST_REST_MILLIS) {
      this.drop(agentId)
      return undefined
    }
    return entry
  }

  /**
   * Keeps the rows of a committed transaction. Checks that it did not look at stay only if it
   * loaded the cached version of the agent, since every change of a check changes its agent too.
   */
  keep({ agent, checks, found }: KnownAgent, serverRun: string | null): void {
    if (this.#maxBytes === 0) return
    if (this.#serverRun !== serverRun) this.clear()
    this.#serverRun = serverRun
    const { agent_id } = agent.row
    const former = this.#entries.get(agent_id)
    if (former === undefined && this.#contested.isShunned(agent_id)) return
    this.drop(agent_id)
    const kept = former?.version === found ? former : undefined
    const entry: Entry = {
      agent: agent.row,
      version: agent.version,
      checks: kept?.checks ?? new Map(),
      knownAt: this.#steady(),
      bytes: (kept?.bytes ?? 0) + bytesAdded(kept?.agent, agent.row),
    }
    for (const [checkId, check] of checks) {
      const earlier = entry.checks.get(checkId)
      if (earlier !== undefined) entry.bytes -= bytesOfCheck(earlier.row)
      if (check === undefined) entry.checks.delete(checkId)
      else entry.checks.set(checkId, check)
      if (check !== undefined) entry.bytes += bytesOfCheck(check.row)
    }
    this.#entries.set(agent_id, entry)
    this.#bytes += entry.bytes
    this.#makeRoom()
  }

  /** Whether a statement is writing an agent: its cached rows are about to change. */
  isBeingWritten(agentId: AgentId): boolean {
    return this.#beingWritten.has(agentId)
  }

  beginWriting(agentIds: Iterable<AgentId>): void {
    for (const agentId of agentIds) this.#beingWritten.add(agentId)
  }

  endWriting(agentIds: Iterable<AgentId>): void {
    for (const agentId of agentIds) this.#beingWritten.delete(agentId)
  }

  /** Drops an agent whose rows another process changed. */
  dropStale(agentId: AgentId): void {
    this.#contested.note(agentId)
    this.drop(agentId)
  }

  confirm(agentId: AgentId): void {
    this.#contested.clear(agentId)
  }

  drop(agentId: AgentId): void {
    const entry = this.#entries.get(agentId)
    if (entry === undefined) return
    this.#entries.delete(agentId)
    this.#bytes -= entry.bytes
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  #makeRoom(): void {
    for (const agentId of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      this.drop(agentId)
    }
  }
}
