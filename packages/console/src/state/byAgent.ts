import type { Answered } from "./Pages.ts"

/** Checks of one agent, in a row of the grid. */
export interface AgentChecks<Check> {
  readonly agent_id: string
  readonly checks: ReadonlyArray<Check>
}

/** Groups neighbours of one agent; the list is ordered by agent. */
const grouped = <Check extends { readonly agent_id: string }>(
  checks: ReadonlyArray<Check>,
): ReadonlyArray<AgentChecks<Check>> => {
  const groups: Array<{ agent_id: string; checks: Array<Check> }> = []
  for (const check of checks) {
    const last = groups.at(-1)
    if (last?.agent_id === check.agent_id) last.checks.push(check)
    else groups.push({ agent_id: check.agent_id, checks: [check] })
  }
  return groups
}

/** Where a page of agents begins: on the server's page after `cursor`, at an agent. */
interface Place {
  readonly cursor: string | undefined
  readonly agent_id: string | undefined
}

const placeOf = (text: string | undefined): Place => {
  const at = text?.indexOf(" ") ?? -1
  if (text === undefined || at === -1) return { cursor: undefined, agent_id: undefined }
  return { cursor: text.slice(at + 1) === "" ? undefined : text.slice(at + 1), agent_id: text.slice(0, at) }
}

const AGAIN_MILLIS = 1_000

/**
 * Reads pages, but not the last one again within a second: neighbouring pages of agents share a page
 * of checks.
 */
export const withLast = <Check>(
  read: (cursor: string | undefined) => Promise<Answered<Check>>,
  now: () => number,
): ((cursor: string | undefined) => Promise<Answered<Check>>) => {
  let last:
    | { readonly cursor: string | undefined; readonly at: number; readonly page: Answered<Check> }
    | undefined
  return async (cursor) => {
    if (last !== undefined && last.cursor === cursor && now() - last.at < AGAIN_MILLIS) return last.page
    const page = await read(cursor)
    last = { cursor, at: now(), page }
    return page
  }
}

/**
 * Reads whole agents from a list of checks whose pages may end within one. The last agent of a page
 * may have more checks on the next, so it begins the next page of agents.
 */
export const readAgents = async <Check extends { readonly agent_id: string }>(
  read: (cursor: string | undefined) => Promise<Answered<Check>>,
  from: string | undefined,
): Promise<Answered<AgentChecks<Check>>> => {
  const { cursor: start, agent_id } = placeOf(from)
  const checks: Array<Check> = []
  let cursor = start
  /** The page on which the last agent so far begins. */
  let last: Place = { cursor: start, agent_id }
  for (;;) {
    const page = await read(cursor)
    // Until the agent with which this page of agents begins.
    const fresh = checks.length > 0 || agent_id === undefined ? page.items : afterPlace(page.items, agent_id)
    const lastId = fresh.at(-1)?.agent_id
    if (lastId !== undefined && lastId !== checks.at(-1)?.agent_id) last = { cursor, agent_id: lastId }
    checks.push(...fresh)
    const next = page.next_cursor ?? null
    const groups = grouped(checks)
    if (next === null) return { items: groups, next_cursor: null }
    if (groups.length > 1)
      return { items: groups.slice(0, -1), next_cursor: `${last.agent_id ?? ""} ${last.cursor ?? ""}` }
    cursor = next
  }
}

/** The checks from an agent on; if it is gone, those of agents after it. */
const afterPlace = <Check extends { readonly agent_id: string }>(
  checks: ReadonlyArray<Check>,
  agent_id: string,
): ReadonlyArray<Check> => {
  const at = checks.findIndex((check) => check.agent_id >= agent_id)
  return at === -1 ? [] : checks.slice(at)
}
