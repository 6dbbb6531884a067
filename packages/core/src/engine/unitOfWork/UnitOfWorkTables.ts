import type { AgentKeyRecord, AgentRecord } from "../../model/AgentRecord.ts"
import type { CheckRecord, CheckRef } from "../../model/CheckRecord.ts"
import type {
  AgentId,
  BlacklistId,
  IncidentId,
  KeyHash,
  OutboxId,
  SilenceId,
} from "@tocsin/contract/Identifiers"
import type { OperatorName } from "@tocsin/contract/Operators"
import type { ExpectationRecord } from "../../model/ExpectationRecord.ts"
import type { IncidentRecord, IncidentRef } from "../../model/IncidentRecord.ts"
import type { MemberRecord, MemberRef } from "../../model/MemberRecord.ts"
import type { ServiceHeartbeatRecord } from "../../model/ServiceHeartbeatRecord.ts"
import type { AlertRecord, AlertRef, OutboxRecord } from "../../model/OutboxRecord.ts"
import type { OperatorRecord } from "../../model/OperatorRecord.ts"
import type { SilenceRecord } from "../../model/SilenceRecord.ts"
import { topic } from "../../topics/Topics.ts"
import { topicsOfAgent, topicsOfExpectation } from "../../topics/topicsOfChange.ts"
import type { ReplicaRecord } from "../../model/ReplicaRecord.ts"
import type { TableOptions } from "./Table.ts"

/** A row of the index of open incidents. */
export interface OpenIncident extends IncidentRef {
  readonly id: IncidentId
}

/** The key of a blacklist row. */
export interface BlacklistRow {
  readonly id: BlacklistId
  readonly key_hash: KeyHash
}

const INCIDENTS = topic("incidents")
const OUTBOX = topic("outbox")

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
  keys: table<KeyHash, AgentKeyRecord>({
    name: "agent key",
    idOf: (row) => row.key_hash,
    keyOf: itself,
    groupsOf: (row) => [row.agent_id],
  }),
  checks: table<CheckRef, CheckRecord>({
    name: "check",
    idOf: (row) => row,
    // A registration belongs to one agent.
    partOf: (ref) => ref.registration_id,
    keyOf: (ref) => ref.check_id,
  }),
  expectations: table<CheckRef, ExpectationRecord>({
    name: "expectation",
    idOf: (row) => row,
    partOf: (ref) => ref.registration_id,
    keyOf: (ref) => ref.check_id,
    groupsOf: (row) => [row.registration_id],
    topicsOf: topicsOfExpectation,
  }),
  incidents: table<IncidentId, IncidentRecord>({
    name: "incident",
    idOf: (row) => row.id,
    keyOf: itself,
    topicsOf: () => INCIDENTS,
  }),
  members: table<MemberRef, MemberRecord>({
    name: "member",
    idOf: (row) => row,
    partOf: (ref) => ref.agent_id,
    keyOf: (ref) => `${ref.incident_id}/${ref.check_id}`,
    groupsOf: (row) => [`incident/${row.incident_id}`, `agent/${row.agent_id}`],
  }),
  outbox: table<OutboxId, OutboxRecord>({
    name: "outbox item",
    idOf: (row) => row.id,
    keyOf: itself,
    topicsOf: () => OUTBOX,
    groupsOf: (row) => [row.incident_id],
  }),
  alerts: table<AlertRef, AlertRecord>({
    name: "alert",
    idOf: (row) => row,
    keyOf: (ref) => `${ref.receiver}/${ref.incident_id}/${ref.severity}`,
    groupsOf: (row) => [row.incident_id],
  }),
  serviceHeartbeats: table<"service", ServiceHeartbeatRecord>({
    name: "service_heartbeat",
    idOf: (row) => row.name,
    keyOf: itself,
  }),
  operators: table<OperatorName, OperatorRecord>({
    name: "operator",
    idOf: (row) => row.name,
    keyOf: itself,
  }),
  silences: table<SilenceId, SilenceRecord>({
    name: "silence",
    idOf: (row) => row.id,
    keyOf: itself,
  }),
  replicas: table<string, ReplicaRecord>({
    name: "replica",
    idOf: (row) => row.id,
    keyOf: itself,
    groupsOf: () => ["all"],
  }),
  openIncidents: table<IncidentRef, OpenIncident>({
    name: "open incident",
    idOf: (row) => row,
    partOf: (ref) => ref.kind,
    keyOf: (ref) => ref.incident_key,
  }),
  blacklist: table<BlacklistId, BlacklistRow>({
    name: "blacklist row",
    idOf: (row) => row.id,
    keyOf: itself,
  }),
}
