import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { AgentId, CheckId } from "@tocsin/core/contract/Identifiers"
import type { Submission } from "../groups/Submission.ts"
import type { AgentCache, CachedAgent, KnownAgent, RowVersion } from "./AgentCache.ts"
import { decideOnRows, type KnownRows, type Tried } from "./decideOnRows.ts"
import type { AgentUpdate } from "./updateArrays.ts"
import type { Written } from "./verifyingUpdate.ts"

/** Beyond these the cost of a commit is shared by so many that more of them only wait longer. */
const MAX_COMMANDS = 256
const MAX_CHECKS = 800

interface Answered {
  readonly submission: Submission
  readonly reply: unknown
}

/** What the group's decisions made of one agent so far. */
class Draft implements KnownRows {
  readonly #cached: CachedAgent
  readonly #checks = new Map<CheckId, CheckRecord>()
  readonly answered: Array<Answered> = []
  agent: AgentRecord

  constructor(cached: CachedAgent) {
    this.#cached = cached
    this.agent = cached.agent
  }

  check(checkId: CheckId): CheckRecord | undefined {
    return this.#checks.get(checkId) ?? this.#cached.checks.get(checkId)?.row
  }

  put(agent: AgentRecord, checks: ReadonlyArray<CheckRecord>): void {
    this.agent = agent
    for (const check of checks) this.#checks.set(check.check_id, check)
  }

  update(): AgentUpdate {
    const { checks, version } = this.#cached
    return {
      agent: { row: this.agent, version },
      // No row was ever written by transaction 0.
      checks: Array.from(this.#checks.values(), (row) => ({
        row,
        version: checks.get(row.check_id)?.version ?? 0,
      })),
    }
  }

  written(version: RowVersion): KnownAgent {
    return {
      agent: { row: this.agent, version },
      found: this.#cached.version,
      checks: Array.from(this.#checks, ([checkId, row]) => [checkId, { row, version }] as const),
    }
  }
}

/**
 * Commands that were decided on cached rows and wait to be written together. Each agent's stand or fall together, and in one
 * group at a time, because the next one needs the versions that this one writes.
 */
export class CachedGroup {
  readonly #cache: AgentCache
  /** Agents of groups that are being written. */
  readonly #beingWritten: Set<AgentId>
  readonly #drafts = new Map<AgentId, Draft>()
  #commands = 0
  #checks = 0

  constructor(cache: AgentCache, beingWritten: Set<AgentId>) {
    this.#cache = cache
    this.#beingWritten = beingWritten
  }

  /** How many commands it has. */
  get size(): number {
    return this.#commands
  }

  get isEmpty(): boolean {
    return this.#commands === 0
  }

  get isFull(): boolean {
    return this.#commands >= MAX_COMMANDS || this.#checks >= MAX_CHECKS
  }

  /**
   * Tries a command on the cached rows, as earlier commands of the group left them; joins it to them where that does. "early"
   * while its agent is being written.
   */
  try(submission: Submission): Tried<Draft>["kind"] | "early" {
    let isEarly = false
    const tried = decideOnRows(submission, ({ agent_id }) => {
      isEarly = this.#beingWritten.has(agent_id)
      return isEarly ? undefined : this.#draftOf(agent_id)
    })
    if (isEarly) return "early"
    if (tried.kind === "locked") submission.predicted = tried.predicted
    if (tried.kind !== "decided") return tried.kind
    const { agent, checks, reply, rows: draft } = tried
    draft.put(agent, checks)
    draft.answered.push({ submission, reply })
    this.#drafts.set(agent.agent_id, draft)
    this.#commands += 1
    this.#checks += checks.length
    return "decided"
  }

  /** What is to be written, from now on until it is settled or given up. */
  updates(): ReadonlyArray<AgentUpdate> {
    for (const agentId of this.#drafts.keys()) this.#beingWritten.add(agentId)
    return Array.from(this.#drafts.values(), (draft) => draft.update())
  }

  /** Answers the commands of fresh agents, and brings the cache up to date. Returns the commands of stale ones. */
  settle({ isFresh, version }: Written): ReadonlyArray<Submission> {
    const stale: Array<Submission> = []
    for (const [agentId, draft] of this.#drafts) {
      this.#beingWritten.delete(agentId)
      if (isFresh(agentId)) {
        this.#cache.confirm(agentId)
        this.#cache.keep(draft.written(version), this.#cache.serverRun)
        for (const { reply, submission } of draft.answered) submission.reply(reply)
      } else {
        this.#cache.dropStale(agentId)
        for (const { submission } of draft.answered) stale.push(submission)
      }
    }
    return stale
  }

  /** Forgets the agents of a group of which it is not known what was kept. Returns its commands. */
  giveUp(): ReadonlyArray<Submission> {
    for (const agentId of this.#drafts.keys()) {
      this.#beingWritten.delete(agentId)
      this.#cache.drop(agentId)
    }
    const drafts = Array.from(this.#drafts.values())
    return drafts.flatMap(({ answered }) => answered.map(({ submission }) => submission))
  }

  #draftOf(agentId: AgentId): Draft | undefined {
    const draft = this.#drafts.get(agentId)
    if (draft !== undefined) return draft
    const cached = this.#cache.find(agentId)
    return cached && new Draft(cached)
  }
}
