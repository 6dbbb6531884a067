import type { Decision } from "./Decision.ts"
import type { RowRequest, Search } from "./RowRequest.ts"
import type { Workspace } from "./Workspace.ts"

type Ensured = Omit<RowRequest, Search | "passesHeld">
type Part = keyof Ensured
/** What a request asks of one part. */
type Asked<P extends Part> = NonNullable<Ensured[P]>

type Missing = { -readonly [P in keyof Ensured]: Ensured[P] }

/** Which rows of a request the workspace does not have yet, if any. */
export const missingRows = (workspace: Workspace, request: Ensured): Missing | undefined => {
  let missing: Missing | undefined
  // A request has no other keys than those of its type.
  for (const part of Object.keys(request) as Array<Part>) {
    const asked = request[part]
    const rows = asked && missingOf(workspace, part, asked)
    if (rows !== undefined) put((missing ??= {}), part, rows)
  }
  return missing
}

/**
 * Requests the rows that the workspace does not have yet, if any. Where commands are many, yield
 * {@link missingRows} instead: a generator costs more than the look.
 */
export function* ensure(workspace: Workspace, request: Ensured): Decision<void> {
  const missing = missingRows(workspace, request)
  if (missing !== undefined) yield missing
}

const missingOf = <P extends Part>(workspace: Workspace, part: P, asked: Asked<P>): Asked<P> | undefined =>
  MISSING[part](workspace, asked)

const put = <P extends Part>(missing: Missing, part: P, rows: Asked<P>): void => {
  missing[part] = rows
}

const unless = <Id>(ids: ReadonlyArray<Id>, isLoaded: (id: Id) => boolean) =>
  ids.every(isLoaded) ? undefined : ids.filter((id) => !isLoaded(id))

/** Finds which of the rows that a request asks for are missing: none, or what to load. */
const MISSING: {
  readonly [P in Part]: (workspace: Workspace, asked: Asked<P>) => Asked<P> | undefined
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
  expectations: (workspace, { agent_id, check_ids: asked }) => {
    const agent = workspace.agents.isLoaded(agent_id) ? workspace.agents.get(agent_id) : undefined
    if (agent === undefined || asked.length === 0) return undefined
    const { registration_id } = agent
    const check_ids = unless(asked, (check_id) =>
      workspace.expectations.isLoaded({ agent_id, registration_id, check_id }),
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
  replicas: (workspace) => (workspace.knowsReplicas ? undefined : true),
  mark: ({ marks }) => (marks.isLoaded("service") ? undefined : true),
  pendingAgents: (workspace) => (workspace.knowsPendingAgents ? undefined : true),
}
