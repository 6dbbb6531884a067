import { AGENTS, DEAD_AFTER, type Happening, rankOf, type Reported, STALE_AFTER } from "./Story.ts"

/** How late background work may be. */
export const LATENESS = 15

/** A check that fails or is overdue, or an agent that is dead. */
export interface Member {
  readonly agent: string
  readonly check?: string
  readonly rank: number
  readonly loud: boolean
}

/** A member joins the incident of a key, or changes there, and leaves any other; one of rank 0 only leaves. */
type Move = (id: string, key: string, member: Member, late?: number) => void

/** The check of stories that has its own incident while it is overdue. */
export const JOB = "load"

const overdueKey = (agent: string, check: string | undefined): string =>
  check === JOB ? `${agent}/${check}/@overdue` : `${agent}/@overdue`

/** Which members incidents have, by docs/rules.md alone: failing and overdue checks, and dead agents. */
export class MemberModel {
  readonly checks = new Map<string, Member & { key: string; at: number; after?: number }>()
  readonly agents = new Map<string, { seen: number; since: number; isSilent: boolean }>()
  readonly #move: Move

  constructor(now: number, move: Move) {
    this.#move = move
    for (const agent of Object.keys(AGENTS))
      this.agents.set(agent, { seen: now, since: now, isSilent: false })
  }

  /** The agents that have been silent for long enough. */
  staleAt(now: number): ReadonlyArray<string> {
    const agents = Array.from(this.agents).filter(([, { isSilent }]) => isSilent)
    return agents.flatMap(([agent, { seen }]) => (now - seen >= STALE_AFTER ? [agent] : []))
  }

  contact(agent: string, isSilent: boolean, now: number): void {
    const since = this.staleAt(now).includes(agent) ? now : (this.agents.get(agent)?.since ?? 0)
    this.agents.set(agent, { seen: now, since, isSilent })
    this.#move(agent, `${agent}/@heartbeat`, { agent, rank: 0, loud: true })
  }

  report(agent: string, { check, key, loud, status }: Reported, now: number): void {
    const [id, rank] = [`${agent}/${check}`, rankOf(status)]
    const known = this.checks.get(id) ?? { agent, check, key: id, rank: 0, loud }
    // Only a change of the status brings another key, and decides whether it is loud.
    const changed = rank === known.rank ? known : { ...known, rank, loud, key: key ?? id }
    this.checks.set(id, { ...changed, at: now })
    this.#move(`${id} overdue`, overdueKey(agent, check), { agent, rank: 0, loud: true })
    this.#move(id, changed.key, { ...changed, loud: rank > 0 ? changed.loud : loud })
  }

  expect({ after, agent, check }: Extract<Happening, { step: "expect" }>, now: number): void {
    const id = `${agent}/${check}`
    const known = this.checks.get(id) ?? { agent, check, key: id, rank: 0, loud: true }
    if (!("after" in known)) this.checks.set(id, { ...known, at: now, after })
  }

  /** Agents that are dead, and checks that are overdue: the agent's next heartbeat comes within a minute. */
  miss(now: number, alive: number): void {
    for (const [agent, { isSilent, seen, since }] of this.agents) {
      if (isSilent && now >= Math.max(seen, alive) + DEAD_AFTER)
        this.#move(agent, `${agent}/@heartbeat`, { agent, rank: 3, loud: true }, LATENESS)
      for (const [id, { after = Infinity, at, ...check }] of this.checks) {
        const isOverdue = now >= Math.max(at, since, alive) + after && (!isSilent || seen >= at + after)
        if (check.agent === agent && isOverdue)
          this.#move(
            `${id} overdue`,
            overdueKey(agent, check.check),
            { ...check, rank: 2, loud: true },
            60 + LATENESS,
          )
      }
    }
  }
}
