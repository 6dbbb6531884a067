import type { Instant } from "@tocsin/contract/formats/Instant"
import type { RowRequest } from "./RowRequest.ts"
import type { Search, SharedSearch } from "./Search.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"
import type { CommandChanges } from "./Table.ts"
import type { Groups, KeyedName, KeyedRows, Keys } from "../../lists/StoredTables.ts"

/**
 * A decision in progress, pure and synchronous. It yields requests for rows, and continues once the storage has loaded
 * them into the unit of work; or searches, whose results it continues with. It returns the reply.
 */
export type Decision<A> = Generator<RowRequest | Search<SharedSearch>, A, unknown>

/** A decision that needs an unused unit of work, since its searches do not see the changes of one. */
export type LoneDecision<A> = Generator<Step, A, unknown>

export type Step = RowRequest | Search

/**
 * One change of the service's state, for Storage.transact. A storage may run it again on a fresh
 * unit of work after a transient failure, so it keeps no state outside. Lone ones share no transaction.
 */
export type Command<A> = ((unit: UnitOfWork, now: Instant) => Decision<A>) | LoneCommand<A>

export interface LoneCommand<A> {
  (unit: UnitOfWork, now: Instant): LoneDecision<A>
  readonly isLone: true
}

export const isLone = <A>(command: Command<A>): command is LoneCommand<A> => "isLone" in command

export const lone = <A>(command: (unit: UnitOfWork, now: Instant) => LoneDecision<A>): LoneCommand<A> =>
  Object.assign((unit: UnitOfWork, now: Instant) => command(unit, now), { isLone: true } as const)

/** Another command, which shares transactions if this one does. */
export const likewise = <A, B>(
  command: Command<A>,
  other: (unit: UnitOfWork, now: Instant) => LoneDecision<B>,
): Command<B> =>
  // It yields the steps of the first one.
  isLone(command) ? lone(other) : (other as (unit: UnitOfWork, now: Instant) => Decision<B>)

/**
 * Makes commands of one kind, which find their moment in the unit of work. A function that returned a
 * new generator function for each command would cost more than most commands: V8 gives each of these a
 * hidden class, which keeps the command's input alive until the old generation is collected
 * (docs/decisions/0030).
 */
export const commandOf =
  <Input extends ReadonlyArray<unknown>, A>(decide: (unit: UnitOfWork, ...input: Input) => Decision<A>) =>
  (...input: Input): Command<A> =>
  (unit, now) =>
    decide(unit.at(now), ...input)

export const loneCommandOf =
  <Input extends ReadonlyArray<unknown>, A>(decide: (unit: UnitOfWork, ...input: Input) => LoneDecision<A>) =>
  (...input: Input): Command<A> =>
    lone((unit, now) => decide(unit.at(now), ...input))

/** Runs a decision for a storage that answers synchronously: it loads rows, or returns what a search finds. */
export const decideSync = <A>(decision: LoneDecision<A>, answer: (step: Step) => unknown): A => {
  let step = decision.next()
  while (step.done !== true) step = decision.next(answer(step.value))
  return step.value
}

/** Only `committed` hands out the reply: no storage can answer without reporting the changes. */
export class Outcome<A> {
  /** The command's changes, without those of others on the same unit of work. */
  readonly changes: CommandChanges
  readonly #reply: A
  readonly #report: (changes: CommandChanges) => void

  constructor(reply: A, changes: CommandChanges, report: (changes: CommandChanges) => void) {
    this.changes = changes
    this.#reply = reply
    this.#report = report
  }

  /** Reports the changes, and returns the reply. To be called once: see `Storage.transact`. */
  committed(): A {
    this.#report(this.changes)
    return this.#reply
  }
}

/** The same command, for a storage that reports its changes to `report` as soon as they are committed. */
export const reporting = <A>(
  command: Command<A>,
  report: (changes: CommandChanges) => void,
): Command<Outcome<A>> => likewise(command, (unit, now) => decideReporting(unit, now, command, report))

function* decideReporting<A>(
  unit: UnitOfWork,
  now: Instant,
  command: Command<A>,
  report: (changes: CommandChanges) => void,
): LoneDecision<Outcome<A>> {
  unit.at(now).beginCommand()
  const reply = yield* command(unit, now)
  return new Outcome(reply, unit.commandChanges(), report)
}

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
type AskedOfTables<Names extends Keys | Groups> = {
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
