import {
  forNames,
  type Groups,
  groupText,
  type KeyedName,
  keyedNames,
  type KeyedRows,
  keyOf,
  type Keys,
  keyText,
} from "../model/StoredTables.ts"
import { topic, topicsOfAgent, topicsOfExpectation } from "../topics/Topics.ts"
import { type Change, Table, type TableOptions, type WriteCount } from "./Table.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckRecord, CheckRef } from "../model/CheckRecord.ts"
import type { AgentId, IncidentId } from "@tocsin/contract/Identifiers"
import type { IncidentRecord, IncidentRef } from "../model/IncidentRecord.ts"

export type KeyedTable<N extends KeyedName> = Table<Keys[N], KeyedRows[N]>

const CHECKS = topic("checks")
const OUTBOX = topic("outbox")

type KeyedChanges = { readonly [N in KeyedName]: ReadonlyArray<Change<KeyedRows[N]>> }

const NO_CHANGES = forNames<KeyedName, KeyedChanges>(keyedNames, () => [])

type Options<N extends KeyedName> = TableOptions<Keys[N], KeyedRows[N]>

/** A registration belongs to one agent. */
const OF_CHECK = {
  partOf: (ref: CheckRef) => ref.registration_id,
  keyOf: (ref: CheckRef) => ref.check_id,
  groupsOf: (row: CheckRef) => [row.registration_id],
}

/** Options that the declarations do not have. Slashes join IDs, since no ID contains one. */
const FURTHER: { readonly [N in KeyedName]?: Partial<Options<N>> } = {
  check_label: { ...OF_CHECK, topicsOf: () => CHECKS },
  expectation: { ...OF_CHECK, topicsOf: topicsOfExpectation },
  job_run: OF_CHECK,
  reported_alert: OF_CHECK,
  incident_member: {
    partOf: (ref) => ref.agent_id,
    keyOf: (ref) => `${ref.incident_id}/${ref.check_id}`,
    groupsOf: (row) => [`incident/${row.incident_id}`, `agent/${row.agent_id}`],
  },
  outbox: { topicsOf: () => OUTBOX, groupsOf: (row) => [row.incident_id] },
  alert: { groupsOf: (row) => [row.incident_id] },
}

const OPTIONS = forNames<KeyedName, { readonly [N in KeyedName]: Options<N> }>(
  keyedNames,
  <N extends KeyedName>(name: N): Options<N> => {
    const further: Partial<Options<N>> | undefined = FURTHER[name]
    return {
      name,
      idOf: (row) => keyOf(name, row),
      keyOf: (key) => keyText(name, key),
      groupsOf: (row) => [groupText(name, row)],
      ...further,
    }
  },
)

/** The rows of one transaction that are requested by key or by group. A table is made when first asked for. */
export class KeyedTables {
  readonly #count: WriteCount
  readonly #tables: { [N in KeyedName]?: KeyedTable<N> } = {}
  #groups: Set<string> | undefined
  #isRecording = false

  constructor(count: WriteCount) {
    this.#count = count
  }

  of<N extends KeyedName>(name: N): KeyedTable<N> {
    // Each table is kept under its name.
    const tables = this.#tables as { [Name in N]?: KeyedTable<N> }
    return (tables[name] ??= this.#make(name))
  }

  #make<N extends KeyedName>(name: N): KeyedTable<N> {
    const table = new Table<Keys[N], KeyedRows[N]>(OPTIONS[name], this.#count)
    if (this.#isRecording) table.beginRecording()
    return table
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

  beginRecording(): void {
    this.#isRecording = true
    for (const table of Object.values(this.#tables)) table.beginRecording()
  }

  isChanged(name: KeyedName): boolean {
    return (this.#tables[name]?.recorded().length ?? 0) > 0
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

const INCIDENTS = topic("incidents")

const itself = (id: string): string => id

const table = <Id, Row>(options: TableOptions<Id, Row>): TableOptions<Id, Row> => options

/** How rows are named and grouped. Slashes join IDs, since no ID and no kind contains one. */
export const UnitOfWorkTables = {
  agents: table<AgentId, AgentRecord>({
    name: "agent",
    idOf: (row) => row.agent_id,
    keyOf: itself,
    topicsOf: topicsOfAgent,
  }),
  checks: table<CheckRef, CheckRecord>({
    name: "check",
    idOf: (row) => row,
    // A registration belongs to one agent.
    partOf: (ref) => ref.registration_id,
    keyOf: (ref) => ref.check_id,
  }),
  incidents: table<IncidentId, IncidentRecord>({
    name: "incident",
    idOf: (row) => row.id,
    keyOf: itself,
    topicsOf: () => INCIDENTS,
  }),
  openIncidents: table<IncidentRef, OpenIncident>({
    name: "open incident",
    idOf: (row) => row,
    partOf: (ref) => ref.kind,
    keyOf: (ref) => ref.incident_key,
  }),
}
