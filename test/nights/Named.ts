import type { Policy } from "../firings/Story.ts"

/** A failing check of an incident. */
export interface Member {
  readonly agent: string
  readonly check: string
  readonly rank: number
  readonly isLoud: boolean
}

/** How the routes name a receiver. */
export interface Named {
  /** The least delay of a first step, or of `to`. */
  readonly first: number | undefined
  /** The delays of later steps, with the rotas through which each names the receiver: none where it does so itself. */
  readonly later: ReadonlyMap<number, ReadonlySet<string | undefined>>
  readonly remind: number | undefined
  /** The rotas through which it is named. */
  readonly rotas: ReadonlySet<string>
  /** Whether its own name stands in a route. */
  readonly isDirect: boolean
}

interface Naming {
  first: number | undefined
  readonly later: Map<number, Set<string | undefined>>
  remind: number | undefined
  readonly rotas: Set<string>
  isDirect: boolean
}

interface Context {
  readonly policy: Policy
  /** The names of every receiver: rotas too. */
  readonly every: ReadonlyArray<string>
  /** Who is on call in a rota, or nothing where a name is a receiver's. */
  readonly onCall: (name: string) => ReadonlyArray<string> | undefined
  readonly key: string
  readonly openings: (within: number) => number
}

const RANKS = ["ok", "warning", "unknown", "critical"]

const matches = (matcher: string, { agent, check }: Member, rank: number, key: string): boolean => {
  const [field, op, value] = matcher.split(" ")
  const found = { severity: RANKS[rank], check_id: check, agent_id: agent, incident_key: key }[field ?? ""]
  return op === "=" ? found === value : found !== value
}

/** Whom the routes name for the loud members, each of which counts at most as a rank. */
export const namesOf = (
  members: ReadonlyArray<Member>,
  most: number,
  context: Context,
): ReadonlyMap<string, Named> => {
  const named = new Map<string, Naming>()
  const { every, key, onCall, openings, policy } = context
  const add = (
    names: ReadonlyArray<string>,
    delay: { first: number } | { later: number },
    remind?: number,
  ) => {
    for (const name of names) {
      const people = onCall(name)
      for (const receiver of people ?? [name]) {
        const one = named.get(receiver) ?? {
          first: undefined,
          later: new Map(),
          remind: undefined,
          rotas: new Set(),
          isDirect: false,
        }
        named.set(receiver, one)
        if ("first" in delay) one.first = Math.min(one.first ?? Infinity, delay.first)
        else one.later.set(delay.later, (one.later.get(delay.later) ?? new Set()).add(people && name))
        if (remind !== undefined) one.remind = Math.min(one.remind ?? Infinity, remind)
        if (people === undefined) one.isDirect = true
        else one.rotas.add(name)
      }
    }
  }
  for (const member of members) {
    if (!member.isLoud) continue
    const rank = Math.min(member.rank, most)
    const routes = (policy.routes ?? []).filter(({ match = [] }) =>
      match.every((one) => matches(one, member, rank, key)),
    )
    if (routes.length === 0) add(every, { first: 0 })
    for (const { after = 0, flapping, remind, steps, to } of routes) {
      const isFlapping = flapping !== undefined && openings(flapping.within) >= flapping.openings
      const first = isFlapping ? flapping.after : after
      if (steps === undefined) add(to ?? every, { first }, remind)
      for (const [place, step] of (steps ?? []).entries())
        add(step.to, place === 0 ? { first } : { later: Math.max(step.after ?? 0, first) }, remind)
    }
  }
  return named
}
