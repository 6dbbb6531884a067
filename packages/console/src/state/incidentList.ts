import type { HeldIncident } from "@tocsin/client"
import type { Query } from "../api/request.ts"
import { incidentMatches } from "./agentFilter.ts"
import { type List, listOf, searched } from "./lists.ts"
import type { Answered } from "./Pages.ts"

const PATH = "ops/v1/incidents"

/** The exact agent and check of a filter such as `web-1`, `web-1/` or `web-1/disk`. */
const subjectOf = (text: string): { agent_id: string; check_id?: string } | undefined => {
  const [, agent_id, check_id = ""] = /^([\w.:-]{1,128})(?:\/(\S*))?$/.exec(text.trim()) ?? []
  if (agent_id === undefined) return undefined
  return { agent_id, ...(check_id !== "" && { check_id }) }
}

/** Marks the cursors of a list that the API filters. */
const EXACT = "exact "

const markedExact = (answer: Answered<HeldIncident>): Answered<HeldIncident> => ({
  items: answer.items,
  next_cursor: typeof answer.next_cursor === "string" ? `${EXACT}${answer.next_cursor}` : null,
})

/**
 * The incidents that a filter finds: those with a member of exactly this agent or check, and if
 * there are none, those that have its words. `isSlow` if a search takes many requests.
 */
export const incidentsOf = (query: Query, filter: string, isSlow: boolean): List<HeldIncident> => {
  if (filter.trim() === "") return listOf<HeldIncident>(PATH, query)
  const subject = subjectOf(filter)
  const words = { ...searched<HeldIncident>(PATH, query, filter, incidentMatches(filter)), isSlow }
  if (subject === undefined) return words
  const exact = listOf<HeldIncident>(PATH, { ...query, ...subject })
  const read = async (cursor: string | undefined): Promise<Answered<HeldIncident>> => {
    if (cursor?.startsWith(EXACT) === true) return markedExact(await exact.read(cursor.slice(EXACT.length)))
    if (cursor !== undefined) return await words.read(cursor)
    const first = await exact.read(undefined)
    return first.items.length > 0 ? markedExact(first) : await words.read(undefined)
  }
  return { ...words, read }
}
