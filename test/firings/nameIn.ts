import type { Incident } from "./IncidentModel.ts"
import { laterOf } from "./moments.ts"
import * as Naming from "./NamingModel.ts"
import type { Story } from "./Story.ts"

/** How the routes name a receiver of an incident, and the earliest time at which it is due. */
export const nameIn = (
  { policy, receivers }: Pick<Story, "policy" | "receivers">,
  incident: Incident,
  receiver: string,
  incidents: ReadonlyArray<Incident>,
) => {
  const { announced, key, loud, onCall, openedAt, reached } = incident
  const openings = incidents.filter((one) => one.key === key).map((one) => openedAt - one.openedAt)
  const openingsWithin = (seconds: number) => openings.filter((ago) => ago >= 0 && ago < seconds).length
  const worst = loud.toSorted((a, b) => b.rank - a.rank).slice(0, Naming.MOST_MEMBERS)
  /** The entries when every member worse than `most` counts as `most`. */
  const entriesAt = (most: number) =>
    worst
      .map(({ agent, check, rank }) => Naming.factsOf(key, Math.min(rank, most), agent, check))
      .flatMap((facts) => Naming.namesOf(policy, receivers, facts, openingsWithin))
  const everyEntry = entriesAt(3)
  const waysAt = (most: number) =>
    (most === 3 ? everyEntry : entriesAt(most)).flatMap((entry) =>
      onCall.ways(entry.name, receiver).map((way) => ({ ...entry, ...way })),
    )
  const present = waysAt(3)
  const first = present.filter((way) => way.isFirst)
  const isBeside = first.length > 0 && first.every((way) => way.isBeside)
  const dues = [1, 2, 3]
    .filter((rank) => rank <= announced && reached[rank] !== undefined)
    .flatMap((rank) => {
      const reachedAt = incident.reachedAt(rank)
      // The delay of a later step counts from when steps began, or will at the end of an acknowledgement.
      const ends = incident.isAcknowledged ? incident.ack?.until : undefined
      const stepsBegan = laterOf(reachedAt, ends ?? incident.began)
      return waysAt(rank).map((way) => ({ ...way, rank, began: way.isFirst ? reachedAt : stepsBegan }))
    })
    .map((way) => ({ ...way, due: way.began + way.delay, isLater: !way.isFirst || way.isBeside || isBeside }))
    // Of one instant, the first step gives the cause, also where steps may have begun later.
    .toSorted(
      (a, b) => Math.ceil(a.due) - Math.ceil(b.due) || Number(a.isLater) - Number(b.isLater) || a.due - b.due,
    )
  const { delay, due, isLater } = dues[0] ?? { delay: 0, due: Infinity, isLater: false }
  return {
    isNamed: present.length > 0,
    delay,
    due,
    isLater,
    isFirst: first.length > 0,
    /** The later steps that name it, at each severity. */
    later: dues.filter((way) => !way.isFirst),
    remind: Math.min(...present.map((way) => way.remind)),
    /** The rotas through which they name it, and all names of the routes. */
    rotas: present.flatMap(({ rota }) => rota ?? []),
    names: everyEntry.map(({ name }) => name),
  }
}
