import type { Groups, KeyedName, KeyedRows, Keys } from "../../lists/StoredTables.ts"
import { type Change, Table, type TableOptions, type WriteCount } from "./Table.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"
import type { CheckRef } from "../model/CheckRef.ts"
import type {
  AgentId,
  CheckId,
  EventId,
  IncidentId,
  RegistrationId,
} from "@tocsin/contract/formats/Identifiers"
import type { IncidentRecord, IncidentRef } from "../../heart/model/IncidentRecord.ts"

export type KeyedTable<N extends KeyedName> = Table<Keys[N], KeyedRows[N]>

type KeyedChanges = { readonly [N in KeyedName]: ReadonlyArray<Change<KeyedRows[N]>> }

export interface OpenIncident extends IncidentRef {
  readonly id: IncidentId
}

/** How the rows of each table are named and grouped, of which transactions have indexes of their own. */
export interface UnitTables {
  readonly agents: TableOptions<AgentId, AgentRecord>
  readonly checks: TableOptions<CheckRef, CheckRecord>
  readonly incidents: TableOptions<IncidentId, IncidentRecord>
  readonly openIncidents: TableOptions<IncidentRef, OpenIncident>
  readonly keyed: { readonly [N in KeyedName]: TableOptions<Keys[N], KeyedRows[N]> }
  readonly noChanges: KeyedChanges
  /** A group of a table, as one text. */
  readonly groupText: <N extends KeyedName>(name: N, group: Groups[N]) => string
}

/** The rows of one transaction that are requested by key or by group. A table is made when first asked for. */
export class KeyedTables {
  readonly #count: WriteCount
  readonly #known: UnitTables
  readonly #tables: { [N in KeyedName]?: KeyedTable<N> } = {}
  #groups: Set<string> | undefined

  constructor(known: UnitTables, count: WriteCount) {
    this.#known = known
    this.#count = count
  }

  of<N extends KeyedName>(name: N): KeyedTable<N> {
    // Each table is kept under its name.
    const tables = this.#tables as { [Name in N]?: KeyedTable<N> }
    return (tables[name] ??= new Table<Keys[N], KeyedRows[N]>(this.#known.keyed[name], this.#count))
  }

  loadGroups<N extends KeyedName>(
    name: N,
    groups: ReadonlyArray<Groups[N]>,
    rows: Iterable<KeyedRows[N]>,
  ): void {
    const table = this.of(name)
    const { idOf } = this.#known.keyed[name]
    for (const row of rows) table.load(idOf(row), row)
    this.#groups ??= new Set()
    for (const group of groups) this.#groups.add(`${name}/${this.#known.groupText(name, group)}`)
  }

  hasGroup<N extends KeyedName>(name: N, group: Groups[N]): boolean {
    return this.#groups?.has(`${name}/${this.#known.groupText(name, group)}`) ?? false
  }

  /** How often rows changed that delivery waits for. */
  get deliveries(): number {
    return (this.#tables.outbox?.writes ?? 0) + (this.#tables.alert?.writes ?? 0)
  }

  changesOf<N extends KeyedName>(name: N): ReadonlyArray<Change<KeyedRows[N]>> {
    return this.#tables[name]?.changes() ?? this.#known.noChanges[name]
  }

  changes(): KeyedChanges {
    let changes: KeyedChanges | undefined
    // Most commands touch few tables.
    for (const name in this.#tables)
      changes = { ...(changes ?? this.#known.noChanges), [name]: this.changesOf(name as KeyedName) }
    return changes ?? this.#known.noChanges
  }
}

/** Event IDs known to be in the stored history, with their checks, or known to be absent. */
export class KnownEvents {
  #known: Map<RegistrationId, Map<EventId, CheckId | undefined>> | undefined
  #removed: Array<CheckRef> | undefined

  load(
    registrationId: RegistrationId,
    asked: ReadonlyArray<EventId>,
    found: ReadonlyMap<EventId, CheckId>,
  ): void {
    const known = this.#of(registrationId)
    for (const eventId of asked) {
      if (known.has(eventId)) continue
      const checkId = found.get(eventId)
      // The storage removes the history of a removed check only at the end of the transaction.
      const isGone = checkId === undefined || this.#isRemoved(registrationId, checkId)
      known.set(eventId, isGone ? undefined : checkId)
    }
  }

  isLoaded(registrationId: RegistrationId, eventId: EventId): boolean {
    return this.#known?.get(registrationId)?.has(eventId) ?? false
  }

  add(registrationId: RegistrationId, eventId: EventId, checkId: CheckId): void {
    this.#of(registrationId).set(eventId, checkId)
  }

  removeCheck({ agent_id, check_id, registration_id }: CheckRef): void {
    ;(this.#removed ??= []).push({ agent_id, check_id, registration_id })
    const known = this.#of(registration_id)
    for (const [eventId, checkId] of known) if (checkId === check_id) known.set(eventId, undefined)
  }

  /** Whether the history has the event. Throws if the decision did not look it up first. */
  has(registrationId: RegistrationId, eventId: EventId): boolean {
    if (!this.isLoaded(registrationId, eventId))
      throw new Error(`event ${eventId} was decided on without a look into the history`)
    return this.#known?.get(registrationId)?.get(eventId) !== undefined
  }

  #isRemoved(registrationId: RegistrationId, checkId: CheckId): boolean {
    return (
      this.#removed?.some(
        ({ check_id, registration_id }) => check_id === checkId && registration_id === registrationId,
      ) ?? false
    )
  }

  #of(registrationId: RegistrationId): Map<EventId, CheckId | undefined> {
    this.#known ??= new Map()
    const known = this.#known.get(registrationId)
    if (known !== undefined) return known
    const created = new Map<EventId, CheckId | undefined>()
    this.#known.set(registrationId, created)
    return created
  }
}
