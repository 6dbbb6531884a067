import { commandOf, type Decision } from "./Decision.ts"
import type { RowRequest } from "./RowRequest.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"
import type { Groups, KeyedName, KeyedRows, Keys } from "../../lists/StoredTables.ts"

type Loadable = Omit<RowRequest, "skipLocked">
type Part = keyof Loadable
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

/** Loads the row of a table that has a key, and returns it. Where commands are many, {@link load} it. */
export function* loadRow<N extends KeyedName>(
  unit: UnitOfWork,
  name: N,
  key: Keys[N],
): Decision<KeyedRows[N] | undefined> {
  yield* load(unit, { rows: { [name]: [key] } })
  return unit.of(name).get(key)
}

/** Reads the row of a table that has a key. Changes nothing. */
export const readRow = commandOf(<N extends KeyedName>(unit: UnitOfWork, name: N, key: Keys[N]) =>
  loadRow(unit, name, key),
)

const missingOf = <P extends Part>(unit: UnitOfWork, part: P, asked: Asked<P>): Asked<P> | undefined =>
  MISSING[part](unit, asked)

const put = <P extends Part>(missing: Missing, part: P, rows: Asked<P>): void => {
  missing[part] = rows
}

const unless = <Id>(ids: ReadonlyArray<Id>, isLoaded: (id: Id) => boolean) =>
  ids.every(isLoaded) ? undefined : ids.filter((id) => !isLoaded(id))

const missingOfTables = <Names extends Keys | Groups>(
  asked: AskedOfTables<Names>,
  isLoaded: <N extends KeyedName>(name: N, named: Names[N]) => boolean,
): AskedOfTables<Names> | undefined => {
  const missing: Array<readonly [KeyedName, ReadonlyArray<unknown>]> = []
  ofEachTable(asked, (name, named) => {
    const rest = unless(named, (one) => isLoaded(name, one))
    if (rest !== undefined) missing.push([name, rest])
  })
  // The missing rows of a table were asked of it.
  return missing.length === 0 ? undefined : (Object.fromEntries(missing) as AskedOfTables<Names>)
}

/** Finds which of the rows that a request asks for are missing: none, or what to load. */
const MISSING: {
  readonly [P in Part]: (unit: UnitOfWork, asked: Asked<P>) => Asked<P> | undefined
} = {
  agents: ({ agents }, ids) => unless(ids, (id) => agents.isLoaded(id)),
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
  worstMembers: ({ rankings }, asked) => {
    const loaded = rankings.get(asked.incident_id)
    return loaded !== undefined && (loaded.complete || loaded.limit >= asked.limit) ? undefined : asked
  },
  rows: (unit, asked) => missingOfTables<Keys>(asked, (name, key) => unit.of(name).isLoaded(key)),
  groups: (unit, asked) => missingOfTables<Groups>(asked, (name, group) => unit.keyed.hasGroup(name, group)),
  pendingAgents: (unit) => (unit.knowsPendingAgents ? undefined : true),
}

/** The rows of each table that a request names, by `rows` or by `groups`. */
export type AskedOfTables<Names extends Keys | Groups> = {
  readonly [N in KeyedName]?: ReadonlyArray<Names[N]>
}

export const ofEachTable = <Names extends Keys | Groups>(
  asked: AskedOfTables<Names>,
  use: <N extends KeyedName>(name: N, named: ReadonlyArray<Names[N]>) => void,
): void => {
  const loadOf = <N extends KeyedName>(name: N): void => {
    const named = asked[name]
    if (named !== undefined) use(name, named)
  }
  // It names tables and nothing else.
  for (const name of Object.keys(asked) as Array<KeyedName>) loadOf(name)
}
