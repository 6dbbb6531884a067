import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { AgentCache, CachedAgent } from "../cache/AgentCache.ts"
import { beginCommand, decideOptimistically, type CachedRows } from "../cache/decideOptimistically.ts"
import type { AgentUpdate, Written } from "../cache/optimisticUpdate.ts"
import type { RowVersion } from "../transactions/loadRows.ts"
import { momentOf, moved, refused, type Submission } from "./Submission.ts"

/** Beyond these the cost of a commit is shared by so many that more of them only wait longer. */
const MAX_COMMANDS = 256
const MAX_CHECKS = 800

class Draft implements CachedRows {
  readonly #cached: CachedAgent
  readonly #checks = new Map<CheckId, CheckRecord>()
  readonly members: Array<Submission<"cached">> = []
  agent: AgentRecord

  constructor(cached: CachedAgent) {
    this.#cached = cached
    this.agent = cached.agent
  }

  check(checkId: CheckId): CheckRecord | undefined {
    return this.#checks.get(checkId) ?? this.#cached.checks.get(checkId)?.row
  }

  add(member: Submission<"cached">, agent: AgentRecord, checks: ReadonlyArray<CheckRecord>): void {
    this.agent = agent
    for (const check of checks) this.#checks.set(check.check_id, check)
    this.members.push(member)
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

  keepIn(cache: AgentCache, version: RowVersion): void {
    const checks = Array.from(this.#checks, ([checkId, row]) => [checkId, { row, version }] as const)
    const found = this.#cached.version
    cache.keep({ agent: { row: this.agent, version }, found, checks }, cache.serverRun)
  }
}

/** An agent is in one group at a time, because the next group needs the versions that this one writes. */
export class CachedGroup {
  readonly #cache: AgentCache
  readonly #drafts = new Map<AgentId, Draft>()
  #commands = 0
  #checks = 0

  constructor(cache: AgentCache) {
    this.#cache = cache
  }

  get size(): number {
    return this.#commands
  }

  get isFull(): boolean {
    return this.#commands >= MAX_COMMANDS || this.#checks >= MAX_CHECKS
  }

  /**
   * Decides a command on the rows as earlier ones of the group left them. A `cached` one is in the group, and one
   * whose agent another group is writing stays `arrived`.
   */
  add(arrived: Submission<"arrived">): Submission<"arrived" | "cached" | "locked" | "alone"> {
    const begun = beginCommand(arrived.caller.command, momentOf(arrived))
    if (begun === undefined) return moved(arrived, "alone", {})
    const { scope } = begun
    if (scope.kind === "outbox") return moved(arrived, "locked", { scope, next: {} })
    if (this.#cache.isBeingWritten(scope.agent_id)) return arrived
    const draft = this.#draftOf(scope.agent_id)
    if (draft === undefined) return moved(arrived, "locked", { scope, next: undefined })
    const tried = decideOptimistically(begun, scope, draft)
    switch (tried.kind) {
      case "unshareable":
        return moved(arrived, "alone", {})
      case "unknown":
        return moved(arrived, "locked", { scope, next: undefined })
      case "more":
        return moved(arrived, "locked", { scope, next: tried.next })
      case "decided": {
        const member = moved(arrived, "cached", { scope, outcome: tried.outcome })
        draft.add(member, tried.agent, tried.checks)
        this.#drafts.set(scope.agent_id, draft)
        this.#commands += 1
        this.#checks += tried.checks.length
        return member
      }
    }
  }

  /** The updates to write. From now on, until their outcome is known, no other group may have its agents. */
  begin(): ReadonlyArray<AgentUpdate> {
    this.#cache.beginWriting(this.#drafts.keys())
    return Array.from(this.#drafts.values(), (draft) => draft.update())
  }

  /** Updates the cache. Commands of agents that were not written are to be decided on locked rows. */
  settle({ isFresh, version }: Written): ReadonlyArray<Submission> {
    this.#cache.endWriting(this.#drafts.keys())
    return Array.from(this.#drafts).flatMap(([agentId, draft]) => {
      if (!isFresh(agentId)) {
        this.#cache.dropStale(agentId)
        return draft.members.map((member): Submission => moved(member, "locked", lockedParts(member)))
      }
      this.#cache.confirm(agentId)
      draft.keepIn(this.#cache, version)
      return draft.members.map((member) => moved(member, "answered", { answer: member.outcome }))
    })
  }

  /** After a failure, which may have come after the commit. Deciding again has the outcome of a repeated request. */
  giveUp(): ReadonlyArray<Submission> {
    return this.#forget().map((member) => moved(member, "locked", lockedParts(member)))
  }

  refuse(): ReadonlyArray<Submission> {
    return this.#forget().map(refused)
  }

  #forget(): ReadonlyArray<Submission<"cached">> {
    this.#cache.endWriting(this.#drafts.keys())
    for (const agentId of this.#drafts.keys()) this.#cache.drop(agentId)
    return Array.from(this.#drafts.values()).flatMap(({ members }) => members)
  }

  #draftOf(agentId: AgentId): Draft | undefined {
    const draft = this.#drafts.get(agentId)
    if (draft !== undefined) return draft
    const cached = this.#cache.find(agentId)
    return cached && new Draft(cached)
  }
}

/** It asked for nothing more on cached rows; that is likely to be so again. */
const lockedParts = ({ scope }: Submission<"cached">) => ({ scope, next: {} })
