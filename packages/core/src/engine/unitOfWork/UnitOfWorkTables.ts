import type { AgentRecord } from "../../model/AgentRecord.ts"
import type { CheckRecord, CheckRef } from "../../model/CheckRecord.ts"
import type { AgentId, BlacklistId, IncidentId, KeyHash } from "@tocsin/contract/Identifiers"
import type { IncidentRecord, IncidentRef } from "../../model/IncidentRecord.ts"
import { topic } from "../../topics/Topics.ts"
import { topicsOfAgent } from "../../topics/topicsOfChange.ts"
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
  blacklist: table<BlacklistId, BlacklistRow>({
    name: "blacklist row",
    idOf: (row) => row.id,
    keyOf: itself,
  }),
}
