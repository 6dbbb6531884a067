import type { AgentRecord, BlockedKeyRecord } from "@tocsin/core/model/AgentRecord"
import type { AuditRecord } from "@tocsin/core/model/AuditRecord"
import type { CheckRecord, CheckRef } from "@tocsin/core/model/CheckRecord"
import type { Instant } from "@tocsin/contract/Instant"
import type { StoredHistoryRecord } from "@tocsin/core/model/ListDefinitions"
import type { ExpectationRecord } from "@tocsin/core/model/ExpectationRecord"
import type { IncidentChangeRecord, IncidentRecord } from "@tocsin/core/model/IncidentRecord"
import type { IncidentLogRecord } from "@tocsin/core/model/IncidentLogRecord"
import type { MemberRecord, MemberRef } from "@tocsin/core/model/MemberRecord"
import type { ServiceHeartbeatRecord } from "@tocsin/core/model/ServiceHeartbeatRecord"
import type { AlertRecord, AlertRef, OutboxRecord } from "@tocsin/core/model/OutboxRecord"
import type { OperatorRecord } from "@tocsin/core/model/OperatorRecord"
import type { SilenceRecord } from "@tocsin/core/model/SilenceRecord"
import type { ReplicaRecord } from "@tocsin/core/model/ReplicaRecord"
import type { EstablishedName } from "@tocsin/core/model/StoredTables"

/** The kinds of row in a store. */
export interface Rows {
  readonly agent: AgentRecord
  readonly agent_key: BlockedKeyRecord
  readonly check_state: CheckRecord
  readonly expectation: ExpectationRecord
  readonly check_event: StoredHistoryRecord
  readonly incident: IncidentRecord
  readonly incident_member: MemberRecord
  readonly incident_change: IncidentChangeRecord
  readonly incident_log: IncidentLogRecord
  readonly audit: AuditRecord
  readonly outbox: OutboxRecord
  readonly alert: AlertRecord
  readonly service_heartbeat: ServiceHeartbeatRecord
  readonly operator: OperatorRecord
  readonly silence: SilenceRecord
  readonly replica: ReplicaRecord
  readonly established: { readonly name: EstablishedName; readonly value: string }
  readonly removed_registration: AgentRecord
  /** The number of the newest row of the history, which may itself be gone. */
  readonly sequence: { readonly seq: number }
}
export type RowKind = keyof Rows

/** The key of each kind of row: its kind, and its id there. No id contains a slash. */
export const rowKeys = {
  agent: (row: Pick<AgentRecord, "agent_id">) => `agent/${row.agent_id}`,
  agent_key: (row: { readonly key_hash: string }) => `agent_key/${row.key_hash}`,
  check_state: (row: CheckRef) => `check_state/${row.registration_id}/${row.check_id}`,
  expectation: (row: CheckRef) => `expectation/${row.registration_id}/${row.check_id}`,
  check_event: (row: { readonly seq: number }) => `check_event/${row.seq}`,
  incident: (row: Pick<IncidentRecord, "id">) => `incident/${row.id}`,
  incident_member: (row: MemberRef) => `incident_member/${row.incident_id}/${row.agent_id}/${row.check_id}`,
  incident_change: (row: Pick<IncidentChangeRecord, "incident_id" | "seq">) =>
    `incident_change/${row.incident_id}/${row.seq}`,
  incident_log: (row: Pick<IncidentLogRecord, "incident_id" | "seq">) =>
    `incident_log/${row.incident_id}/${row.seq}`,
  audit: (row: Pick<AuditRecord, "id">) => `audit/${row.id}`,
  outbox: (row: Pick<OutboxRecord, "id">) => `outbox/${row.id}`,
  // Without a receiver, as versions that know only this one wrote it.
  alert: ({ incident_id, receiver, severity }: AlertRef) => `alert/${incident_id}/${receiver}/${severity}`,
  service_heartbeat: (row: { readonly name: string }) => `service_heartbeat/${row.name}`,
  operator: (row: Pick<OperatorRecord, "name">) => `operator/${row.name}`,
  silence: (row: Pick<SilenceRecord, "id">) => `silence/${row.id}`,
  replica: (row: Pick<ReplicaRecord, "id">) => `replica/${row.id}`,
  established: (row: { readonly name: string }) => `established/${row.name}`,
  removed_registration: (row: { readonly registration_id: string }) =>
    `removed_registration/${row.registration_id}`,
  sequence: () => "sequence/check_event",
} as const satisfies { readonly [Kind in RowKind]: (row: Rows[Kind]) => string }

// Values without a form in JSON. No record has a field, and no label a key, with this first
// character.
const MARK = "$"

/**
 * A record as JSON: instants are bigint, and a field that is undefined differs from an absent one.
 */
export const writeRow = (row: unknown): string =>
  // `value` has passed through toJSON, which programs define for bigint; only the holder is
  // original.
  JSON.stringify(row, function (this: Readonly<Record<string, unknown>>, name) {
    const value = this[name]
    if (typeof value === "bigint") return { [MARK]: value.toString() }
    return value === undefined ? { [MARK]: null } : value
  })

/** Reads an entry. Throws if it is not one of ours. */
export const readRow = (key: string, text: string): { readonly kind: RowKind; readonly row: unknown } => {
  const kind = key.slice(0, key.indexOf("/"))
  if (!isRowKind(kind)) throw new Error(`the store holds ${key.slice(0, 64)}, which is no row of Tocsin's`)
  const row = restore(JSON.parse(text))
  for (const [name, value] of Object.entries(Object(row))) {
    if (!TIME.test(name) || value === undefined || typeof value === "bigint") continue
    throw new Error(
      `${name} of the row ${key} is not a time; it was written by an older version in a program that defines BigInt.prototype.toJSON, so restore a copy of the store from before, or start with an empty one`,
    )
  }
  if (kind === "outbox" && !Object.hasOwn(Object(row), "receiver"))
    throw new Error(`the row ${key} was written by Tocsin 0.1.0: start with an empty store`)
  return { kind, row }
}

const isRowKind = (name: string): name is RowKind => Object.hasOwn(rowKeys, name)

// Not JSON.parse's reviver, which deletes a field that becomes undefined.
const restore = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(restore)
  const entries = Object.entries(value)
  const [first] = entries
  if (first?.[0] === MARK) return typeof first[1] === "string" ? BigInt(first[1]) : undefined
  return Object.fromEntries(entries.map(([name, field]) => [name, restore(field)]))
}

type TimeName = `${string}_${"at" | "until" | "from"}`
type Misnamed<Row> = {
  [Name in keyof Row]-?: [Instant extends Row[Name] ? 1 : 0, Name extends TimeName ? 1 : 0] extends
    | [1, 1]
    | [0, 0]
    ? never
    : Name
}[keyof Row]
/** The names of fields that are times. Does not compile once a record breaks the rule. */
const TIME: { [Kind in RowKind]: Misnamed<Rows[Kind]> }[RowKind] extends never ? RegExp : never =
  /_(?:at|until|from)$/
