import type { HeldIncident } from "@tocsin/client"
import type { Query } from "../api/request.ts"
import { exactFirst, incidentMatches, type List, listOf, MOST, searched } from "./lists.ts"

const PATH = "ops/v1/incidents"

/** The agent of a filter such as `web-1`, `web-1/` or `web-1/disk`, and what follows it. */
const subjectOf = (text: string) => {
  const [, agent_id, slash, check_id] = /^([\w.:-]{1,128})(\/(\S*))?$/.exec(text.trim()) ?? []
  if (agent_id === undefined) return undefined
  const subject = { agent_id, check_id: check_id === "" ? undefined : check_id }
  return { subject, isOnly: slash !== undefined }
}

/**
 * The incidents that a filter finds: first those with a member of exactly this agent or check, then
 * those that have its words. After `web-1/` and `web-1/disk` the others follow only if there is none.
 * `isSlow` if a search takes many requests.
 */
export const incidentsOf = (query: Query, filter: string, isSlow: boolean): List<HeldIncident> => {
  if (filter.trim() === "") return listOf<HeldIncident>(PATH, query)
  const hasWords = incidentMatches(filter)
  const searchFor = (matches: (incident: HeldIncident) => boolean): List<HeldIncident> => ({
    ...searched(PATH, query, filter, matches),
    isSlow,
  })
  const words = searchFor(hasWords)
  const exactly = subjectOf(filter)
  if (exactly === undefined) return words
  const { subject, isOnly } = exactly
  const exact = { ...query, ...subject }
  const readOthers = async (cursor: string | undefined) => {
    const { items } = await listOf<HeldIncident>(PATH, exact, MOST).read(undefined)
    const ids = new Set(items.map(({ id }) => id))
    // Beyond a page of them, the exact ones are known by their agent.
    const isOther = ({ id, agent_id }: HeldIncident) =>
      ids.size === 0 || (!ids.has(id) && agent_id !== subject.agent_id)
    return await searchFor((incident) => hasWords(incident) && isOther(incident)).read(cursor)
  }
  return { ...words, read: exactFirst(listOf<HeldIncident>(PATH, exact).read, readOthers, isOnly) }
}
