import type { Decision } from "./Decision.ts"
import type { RowRequest, Search } from "./RowRequest.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"

type Loadable = Omit<RowRequest, Search | "skipLocked">
type Part = keyof Loadable
/** One part of a request. */
type Asked<P extends Part> = NonNullable<Loadable[P]>

type Missing = { -readonly [P in keyof Loadable]: Loadable[P] }

/** Which rows of a request the unit of work does not have yet, if any. */
export const missingRows = (unit: UnitOfWork, request: Loadable): Missing | undefined => {
  let missing: Missing | undefined
  // A request has no other keys than those of its type.
  for (const part of Object.keys(request) as Array<Part>) {
    const asked = request[part]
    const rows = asked && missingOf(unit, part, asked)
    if (rows !== undefined) put((missing ??= {}), part, rows)
  }
  return missing
}

/**
 * Requests the rows that the unit of work does not have yet, if any. Where commands are many, yield
 * {@link missingRows} instead: a generator costs more than the look.
 */
export function* load(unit: UnitOfWork, request: Loadable): Decision<void> {
  const missing = missingRows(unit, request)
  if (missing !== undefined) yield missing
}

const missingOf = <P extends Part>(unit: UnitOfWork, part: P, asked: Asked<P>): Asked<P> | undefined =>
  MISSING[part](unit, asked)

const put = <P extends Part>(missing: Missing, part: P, rows: Asked<P>): void => {
  missing[part] = rows
}

const unless = <Id>(ids: ReadonlyArray<Id>, isLoaded: (id: Id) => boolean) =>
  ids.every(isLoaded) ? undefined : ids.filter((id) => !isLoaded(id))

/** Finds which of the rows that a request asks for are missing: none, or what to load. */
const MISSING: {
  readonly [P in Part]: (unit: UnitOfWork, asked: Asked<P>) => Asked<P> | undefined
} = {
  agents: ({ agents }, ids) => unless(ids, (id) => agents.isLoaded(id)),
  keys: ({ keys }, hashes) => unless(hashes, (hash) => keys.isLoaded(hash)),
  keysOfAgents: ({ keysOfAgents }, ids) => unless(ids, (id) => keysOfAgents.has(id)),
  blacklist: ({ blacklist }, ids) => unless(ids, (id) => blacklist.isLoaded(id)),
  checks: ({ agents, checks }, asked) => {
    const { agent_id } = asked
    if (!agents.isLoaded(agent_id)) return asked
    const agent = agents.get(agent_id)
    if (agent === undefined) return undefined
    const { registration_id } = agent
    const check_ids = unless(asked.check_ids, (check_id) =>
      checks.isLoaded({ agent_id, registration_id, check_id }),
    )
    return check_ids && { agent_id, check_ids }
  },
  expectations: (unit, { agent_id, check_ids: asked }) => {
    const agent = unit.agents.isLoaded(agent_id) ? unit.agents.get(agent_id) : undefined
    if (agent === undefined || asked.length === 0) return undefined
    const { registration_id } = agent
    const check_ids = unless(asked, (check_id) =>
      unit.expectations.isLoaded({ agent_id, registration_id, check_id }),
    )
    return check_ids && { agent_id, check_ids }
  },
  expectationsOfAgents: ({ expectationsOfAgents }, ids) => unless(ids, (id) => expectationsOfAgents.has(id)),
  history: ({ agents, knownEvents }, { agent_id, event_ids: asked }) => {
    const agent = agents.get(agent_id)
    const event_ids = agent && unless(asked, (id) => knownEvents.isLoaded(agent.registration_id, id))
    return event_ids && { agent_id, event_ids }
  },
  incidents: ({ incidents }, ids) => {
    const missing = unless(ids, (id) => incidents.isLoaded(id))
    // Callers name rows once, except incidents, which many checks share.
    return missing && (missing.length === 1 ? missing : Array.from(new Set(missing)))
  },
  openIncidents: ({ openIncidents }, refs) => unless(refs, (ref) => openIncidents.isLoaded(ref)),
  members: ({ members }, refs) => unless(refs, (ref) => members.isLoaded(ref)),
  membersOfAgents: ({ membersOfAgents }, ids) => unless(ids, (id) => membersOfAgents.has(id)),
  worstMembers: ({ rankings }, asked) => {
    const loaded = rankings.get(asked.incident_id)
    return loaded !== undefined && (loaded.complete || loaded.limit >= asked.limit) ? undefined : asked
  },
  outboxItems: ({ outbox }, ids) => unless(ids, (id) => outbox.isLoaded(id)),
  alerts: ({ alerts }, refs) => unless(refs, (ref) => alerts.isLoaded(ref)),
  operators: ({ operators }, names) => unless(names, (name) => operators.isLoaded(name)),
  silences: ({ silences }, ids) => unless(ids, (id) => silences.isLoaded(id)),
  replicas: (unit) => (unit.knowsReplicas ? undefined : true),
  serviceHeartbeat: ({ serviceHeartbeats }) => (serviceHeartbeats.isLoaded("service") ? undefined : true),
  pendingAgents: (unit) => (unit.knowsPendingAgents ? undefined : true),
}
