import { Struct } from "effect"
import {
  forNames,
  type Groups,
  groupText,
  type KeyedName,
  keyedNames,
  type KeyedRows,
  keyOf,
  keyedShape,
  type Keys,
  keyText,
  storedTables,
} from "../../lists/StoredTables.ts"
import { type Change, Table, type TableOptions, type WriteCount } from "./Table.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"
import type { CheckRef } from "../model/CheckRef.ts"
import type { AgentId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { IncidentRecord, IncidentRef } from "../../heart/model/IncidentRecord.ts"

export type KeyedTable<N extends KeyedName> = Table<Keys[N], KeyedRows[N]>

type KeyedChanges = { readonly [N in KeyedName]: ReadonlyArray<Change<KeyedRows[N]>> }

const NO_CHANGES = forNames<KeyedName, KeyedChanges>(keyedNames, () => [])

type Options<N extends KeyedName> = TableOptions<Keys[N], KeyedRows[N]>

const OPTIONS = forNames<KeyedName, { readonly [N in KeyedName]: Options<N> }>(
  keyedNames,
  <N extends KeyedName>(name: N): Options<N> => ({
    name,
    idOf: (row) => keyOf(name, row),
    keyOf: (key) => keyText(name, key),
    groupsOf: (row) => [groupText(name, row)],
    // Options that the declaration has.
    ...Struct.pick(keyedShape(name), ["groupsOf", "keyOf", "partOf", "topicsOf"]),
  }),
)

/** The rows of one transaction that are requested by key or by group. A table is made when first asked for. */
export class KeyedTables {
  readonly #count: WriteCount
  readonly #tables: { [N in KeyedName]?: KeyedTable<N> } = {}
  #groups: Set<string> | undefined

  constructor(count: WriteCount) {
    this.#count = count
  }

  of<N extends KeyedName>(name: N): KeyedTable<N> {
    // Each table is kept under its name.
    const tables = this.#tables as { [Name in N]?: KeyedTable<N> }
    return (tables[name] ??= new Table<Keys[N], KeyedRows[N]>(OPTIONS[name], this.#count))
  }

  loadGroups<N extends KeyedName>(
    name: N,
    groups: ReadonlyArray<Groups[N]>,
    rows: Iterable<KeyedRows[N]>,
  ): void {
    const table = this.of(name)
    for (const row of rows) table.load(keyOf(name, row), row)
    this.#groups ??= new Set()
    for (const group of groups) this.#groups.add(`${name}/${groupText(name, group)}`)
  }

  hasGroup<N extends KeyedName>(name: N, group: Groups[N]): boolean {
    return this.#groups?.has(`${name}/${groupText(name, group)}`) ?? false
  }

  /** How often rows changed that delivery waits for. */
  get deliveries(): number {
    return (this.#tables.outbox?.writes ?? 0) + (this.#tables.alert?.writes ?? 0)
  }

  changesOf<N extends KeyedName>(name: N): ReadonlyArray<Change<KeyedRows[N]>> {
    return this.#tables[name]?.changes() ?? NO_CHANGES[name]
  }

  changes(): KeyedChanges {
    let changes: KeyedChanges | undefined
    // Most commands touch few tables.
    for (const name in this.#tables)
      changes = { ...(changes ?? NO_CHANGES), [name]: this.changesOf(name as KeyedName) }
    return changes ?? NO_CHANGES
  }
}

export interface OpenIncident extends IncidentRef {
  readonly id: IncidentId
}

const itself = (id: string): string => id

const table = <Id, Row>(options: TableOptions<Id, Row>): TableOptions<Id, Row> => options

/** How rows are named and grouped, of which transactions have indexes of their own. */
export const UnitOfWorkTables = {
  agents: table<AgentId, AgentRecord>({
    ...storedTables.agent,
    idOf: (row) => row.agent_id,
    keyOf: itself,
  }),
  checks: table<CheckRef, CheckRecord>({
    name: "check",
    idOf: (row) => row,
    // A registration belongs to one agent.
    partOf: (ref) => ref.registration_id,
    keyOf: (ref) => ref.check_id,
  }),
  incidents: table<IncidentId, IncidentRecord>({
    ...storedTables.incident,
    idOf: (row) => row.id,
    keyOf: itself,
  }),
  openIncidents: table<IncidentRef, OpenIncident>({
    name: "open incident",
    idOf: (row) => row,
    partOf: (ref) => ref.kind,
    keyOf: (ref) => ref.incident_key,
  }),
}
