import type { AgentRecord } from "../../model/AgentRecord.ts"
import type { Labels } from "@tocsin/contract/Labels"
import type { AgentId, IncidentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { IncidentRecord } from "../../model/IncidentRecord.ts"
import type { MemberRecord } from "../../model/MemberRecord.ts"
import type { ServiceHeartbeatRecord } from "../../model/ServiceHeartbeatRecord.ts"
import type { SilenceRecord } from "../../model/SilenceRecord.ts"
import type { AlertRecord, OutboxRecord } from "../../model/OutboxRecord.ts"

/** An outbox item or alert with its incident, unlocked, as of the search. */
export interface WithIncident<Row> {
  readonly row: Row
  readonly incident: IncidentRecord
}

/** A loud present member of an incident; its agent may have been deleted meanwhile. */
export interface LoudMember {
  readonly member: MemberRecord
  readonly agent: AgentRecord | undefined
  /** Those of its check. */
  readonly labels: Labels | undefined
}

/** Results of searches, in the storage's order. Each search replaces its previous result. */
export interface SearchResults {
  claimableOutbox: ReadonlyArray<WithIncident<OutboxRecord>>
  expiredOutbox: ReadonlyArray<OutboxRecord>
  /** The incidents of held items that are to be examined. */
  heldOutbox: ReadonlyArray<IncidentId>
  dueIncidents: ReadonlyArray<IncidentId>
  incidentsToRead: ReadonlyMap<IncidentId, IncidentRecord>
  /** By incident, the worst first; an incident without a loud member is missing. */
  loudMembers: ReadonlyMap<IncidentId, ReadonlyArray<LoudMember>>
  /** Each once. */
  parents: { readonly incidents: ReadonlyArray<IncidentRecord>; readonly agents: ReadonlyArray<AgentRecord> }
  /** By incident. */
  openings: ReadonlyMap<IncidentId, ReadonlyArray<Instant>>
  /** The silences in force, and the service heartbeat, read together. */
  silencesInForce: ReadonlyArray<SilenceRecord>
  serviceHeartbeat: ServiceHeartbeatRecord | undefined
  /** The silences that have not ended. */
  unendedSilences: ReadonlyArray<SilenceRecord>
  unclaimedOutbox: ReadonlyArray<OutboxRecord>
  claimableAlerts: ReadonlyArray<WithIncident<AlertRecord>>
  idlePendingAgents: ReadonlyArray<AgentId>
  /** The storage's clock, read by `claimableOutbox` and `claimableAlerts`. */
  storageTime: Instant | undefined
}

/** Before any search. */
export const NOTHING_FOUND: Readonly<SearchResults> = {
  claimableOutbox: [],
  expiredOutbox: [],
  heldOutbox: [],
  dueIncidents: [],
  incidentsToRead: new Map(),
  loudMembers: new Map(),
  parents: { incidents: [], agents: [] },
  openings: new Map(),
  silencesInForce: [],
  serviceHeartbeat: undefined,
  unendedSilences: [],
  unclaimedOutbox: [],
  claimableAlerts: [],
  idlePendingAgents: [],
  storageTime: undefined,
}
