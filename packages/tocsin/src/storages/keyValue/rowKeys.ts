import type { AgentKeyRecord, AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRef } from "@tocsin/core/checks/CheckRecord"
import type { IncidentChangeRecord, IncidentRecord } from "@tocsin/core/incidents/IncidentRecord"
import type { MemberRef } from "@tocsin/core/incidents/MemberRecord"
import type { AlertRef, OutboxRecord } from "@tocsin/core/notifications/OutboxRecord"

/** The key that each kind of row is kept under: its table, and its id there. No id holds a slash. */
export const rowKeys = {
  agent: (row: Pick<AgentRecord, "agent_id">) => `agent/${row.agent_id}`,
  agent_key: (row: Pick<AgentKeyRecord, "key_hash">) => `agent_key/${row.key_hash}`,
  check_state: (row: CheckRef) => `check_state/${row.registration_id}/${row.check_id}`,
  check_event: (row: { readonly seq: number }) => `check_event/${row.seq}`,
  incident: (row: Pick<IncidentRecord, "id">) => `incident/${row.id}`,
  incident_member: (row: MemberRef) => `incident_member/${row.incident_id}/${row.agent_id}/${row.check_id}`,
  incident_change: (row: Pick<IncidentChangeRecord, "incident_id" | "seq">) =>
    `incident_change/${row.incident_id}/${row.seq}`,
  outbox: (row: Pick<OutboxRecord, "id">) => `outbox/${row.id}`,
  alert: (row: AlertRef) => `alert/${row.incident_id}/${row.severity}`,
  mark: (row: { readonly name: string }) => `mark/${row.name}`,
  established: (row: { readonly name: string }) => `established/${row.name}`,
  removed_registration: (row: { readonly registration_id: string }) =>
    `removed_registration/${row.registration_id}`,
  /** The number of the newest row of the history, which may itself be gone. */
  sequence: () => "sequence/check_event",
} as const

/** The name of a table. */
export type TableName = keyof typeof rowKeys
