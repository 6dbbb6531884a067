import { constant, type Listing, one } from "../../kernel/model/ListPlan.ts"
import type {
  AgentId,
  BlacklistId,
  IncidentId,
  KeyFingerprint,
  KeyHash,
  RegistrationId,
} from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { Labels } from "@tocsin/contract/labels/Labels"
import type { AgentFeatures } from "@tocsin/contract/v1/Requests"
import type { AdmissionState, CheckStatus } from "@tocsin/contract/formats/Status"
import { isSameReport } from "./CheckRecord.ts"
import type { titled } from "./titles.ts"
import { NO_TOPICS, topic, type Topics } from "../../kernel/topics/Topics.ts"
import { stateTable } from "@tocsin/contract/formats/TransitionTable"
import {
  array,
  instant,
  integer,
  type KeyedShape,
  moving,
  object,
  orAbsent,
  orUndefined,
  type RecordOf,
  storedTable,
  text,
  uuid,
} from "../../kernel/model/TableShape.ts"

/** A process of an agent that another one has followed. */
export interface FormerProcess {
  readonly id: string
  readonly hostname: string
  /** When the other one was seen, in microseconds. */
  readonly left_at: number
}

const AGENTS = topic("agents")

/**
 * One agent as stored. It repeats the hashes of its usable keys, so that a heartbeat reads one row,
 * and counts its checks by status, so that the summary adds up agents instead of checks.
 */
export const agent = storedTable({
  name: "agent",
  key: ["agent_id"],
  topicsOf: (before, after): Topics => {
    // The checks of a deleted agent leave every list with its row.
    if (after === undefined) return before?.admission_state === "accepted" ? AGENTS | topic("checks") : AGENTS
    // A heartbeat in time that says nothing new concerns no topic.
    return before !== undefined && looksTheSame(before, after) ? NO_TOPICS : AGENTS
  },
  list: { name: "agents", orders: { agent_id: ["agent_id"] } },
  columns: {
    agent_id: text<AgentId>(),
    registration_id: uuid<RegistrationId>(),
    admission_state: text<AdmissionState>(),
    hostname: text(),
    features: object<AgentFeatures>(),
    /** Those of its heartbeat, with the title that is shown. */
    labels: orUndefined(object<Labels>()),
    /** When the heartbeat was observed that set hostname, features and labels. */
    observed_at: moving(instant),
    last_seen_at: moving(instant),
    registered_at: instant,
    accepted_key_hash: orUndefined(text<KeyHash>()),
    pending_key_hash: orUndefined(text<KeyHash>()),
    /** The fingerprint of the pending key, or else of the accepted key (docs/rules.md#rotation). */
    key_fingerprint: text<KeyFingerprint>(),
    /** The open incident for a dead agent (docs/rules.md#heartbeat-incidents). */
    heartbeat_incident_id: orUndefined(text<IncidentId>()),
    /** When it was accepted, or first seen after it was last stale; absent before that was kept. */
    reachable_from: orUndefined(instant),
    /** The process that sent the last heartbeat with an id, and those before it (docs/rules.md#two-agents-with-one-key). */
    process: orUndefined(text()),
    former_processes: orUndefined(array<FormerProcess>()),
    /** When a former process was last seen again; absent unless the incident AGENT/@twice is open. */
    twice_at: orUndefined(instant),
    /** When its newest list of all its checks was made, by its clock but never ahead; absent without any. */
    listed_as_of: orUndefined(instant),
    /** An operator's title, its integration's, and the label `title` of its heartbeat while another is in its place. */
    title: orUndefined(text()),
    given_title: orUndefined(text()),
    declared_title: orUndefined(text()),
    /** Without those that are withdrawn. */
    checks_ok: integer,
    checks_warning: integer,
    checks_critical: integer,
    checks_unknown: integer,
  },
})
export type AgentRecord = RecordOf<typeof agent>

/** A check that moves from one status to another; `from` is undefined for a new check, `to` of a withdrawn one. */
export interface CheckMove {
  readonly from: CheckStatus | undefined
  readonly to: CheckStatus | undefined
}

const COUNT_OF = {
  ok: "checks_ok",
  warning: "checks_warning",
  critical: "checks_critical",
  unknown: "checks_unknown",
} as const satisfies Record<CheckStatus, keyof AgentRecord>

export const recountChecks = (row: AgentRecord, moves: ReadonlyArray<CheckMove>): AgentRecord => {
  if (moves.length === 0) return row
  const { checks_ok, checks_warning, checks_critical, checks_unknown } = row
  const counts = { checks_ok, checks_warning, checks_critical, checks_unknown }
  for (const { from, to } of moves) {
    if (from !== undefined) counts[COUNT_OF[from]] -= 1
    if (to !== undefined) counts[COUNT_OF[to]] += 1
  }
  return { ...row, ...counts }
}

export const uncount = (row: AgentRecord, status: CheckStatus): AgentRecord => ({
  ...row,
  [COUNT_OF[status]]: row[COUNT_OF[status]] - 1,
})

/** Whether an agent was accepted and last seen by a moment, and has no heartbeat incident. */
export const isSilent = (row: AgentRecord, since: Instant): boolean =>
  row.admission_state === "accepted" &&
  row.heartbeat_incident_id === undefined &&
  row.last_seen_at <= since &&
  (row.reachable_from === undefined || row.reachable_from <= since)

/** Whether two processes were last seen to use an agent's key by a moment. */
export const wasTwice = ({ twice_at }: AgentRecord, since: Instant | undefined): boolean =>
  twice_at !== undefined && since !== undefined && twice_at <= since

/**
 * Whether an agent looks the same. The times of a heartbeat do not count, nor do the counts of its
 * checks, which `checks` announces.
 */
const looksTheSame = (before: AgentRecord, after: AgentRecord): boolean =>
  before.reachable_from === after.reachable_from &&
  before.admission_state === after.admission_state &&
  before.pending_key_hash === after.pending_key_hash &&
  before.accepted_key_hash === after.accepted_key_hash &&
  before.heartbeat_incident_id === after.heartbeat_incident_id &&
  before.registration_id === after.registration_id &&
  before.hostname === after.hostname &&
  isSameReport(before.features, after.features) &&
  isSameReport(before.labels, after.labels)

interface AgentKeyFields {
  readonly key_hash: KeyHash
  readonly key_fingerprint: KeyFingerprint
  /** The only agent ID that may use this key (docs/rules.md#registration). */
  readonly agent_id: AgentId
  readonly created_at: Instant
  readonly last_seen_at: Instant
}

export interface AgentsKeyRecord extends AgentKeyFields {
  readonly state: "pending" | "accepted" | "superseded"
}

/** An agent that has just been seen for the first time, with its only key. */
export const newAgent = (
  reported: Pick<AgentRecord, "agent_id" | "features" | "hostname" | "observed_at" | "registration_id"> &
    ReturnType<typeof titled>,
  { key_fingerprint, key_hash, state }: Pick<AgentsKeyRecord, "key_fingerprint" | "key_hash" | "state">,
  admission_state: AdmissionState,
  now: Instant,
): AgentRecord => ({
  ...reported,
  admission_state,
  last_seen_at: now,
  reachable_from: now,
  registered_at: now,
  accepted_key_hash: state === "accepted" ? key_hash : undefined,
  pending_key_hash: state === "pending" ? key_hash : undefined,
  key_fingerprint,
  heartbeat_incident_id: undefined,
  process: undefined,
  former_processes: undefined,
  twice_at: undefined,
  listed_as_of: undefined,
  checks_ok: 0,
  checks_warning: 0,
  checks_critical: 0,
  checks_unknown: 0,
})

/** A blocked key: a row of the blacklist. It outlives its agent (docs/rules.md#agent-keys). */
export interface BlockedKeyRecord extends AgentKeyFields {
  readonly state: "blocked"
  readonly blacklist_id: BlacklistId
  readonly blocked_at: Instant
  readonly hostname: string
}

/** Hashes only, never the key itself (docs/rules.md#what-is-stored-of-a-key). */
export type AgentKeyRecord = AgentsKeyRecord | BlockedKeyRecord

/** Transitions of an agent's admission (docs/rules.md#agent-keys). */
export const AgentTransitions = stateTable({
  absent: {
    "registered -> pending":
      "a heartbeat with an unknown key under an unknown agent id, fewer pending agents than the limit | its key is pending",
    "preseeded -> accepted":
      "a heartbeat with an unknown key under an unknown agent id; the key's fingerprint is listed in SERVICE_ACCEPT_FINGERPRINTS; the limit on pending agents does not apply | its key is accepted",
    "integrated -> accepted":
      "an operator creates an integration of this name, or opens a closed one | the integration's key is accepted",
  },
  pending: {
    "key_accepted -> accepted":
      "its pending key, or a preseeded one, is accepted, also by a token | its events count from now on",
    "removed -> absent":
      "it is deleted, all pending agents are removed, or its only usable key is blocked | its keys are deleted, except blocked ones",
  },
  accepted: {
    "key_accepted -> accepted": "a replacement key is accepted | the old key is superseded",
    "removed -> absent":
      "it is deleted, or its only usable key is blocked | its checks, its history and its keys are deleted, except blocked ones; its checks leave their incidents, which resolve without members",
  },
})

/** Transitions of an agent key (docs/rules.md#agent-keys). */
export const AgentKeyTransitions = stateTable({
  absent: {
    "registered -> pending":
      "a heartbeat with an unknown key; the agent id is unknown and fewer agents are pending than the limit, or it is known and has no pending key that was seen in the last hour | the agent is created as pending, or shows rotation_pending when it has an accepted key",
    "preseeded -> accepted":
      "a heartbeat with an unknown key whose fingerprint is listed in SERVICE_ACCEPT_FINGERPRINTS | the agent is accepted; an accepted key that it had is superseded",
    "integrated -> accepted":
      "an operator creates an integration, or replaces its key | the integration's former key is superseded",
  },
  pending: {
    "preseeded -> accepted":
      "a heartbeat with a pending key whose fingerprint is listed in SERVICE_ACCEPT_FINGERPRINTS | the agent is accepted; an accepted key that it had is superseded",
    "accepted -> accepted":
      "an operator accepts the agent, or accepts all | the agent is accepted; an accepted key that it had is superseded",
    "enrolled -> accepted":
      "its agent has no accepted key and shows the token of an open enrolment | the agent is accepted; the enrolment has a use less",
    "blocked -> blocked":
      "an operator blocks the agent, or blocks all pending keys | listed in the blacklist; an agent left without a usable key is deleted",
    "forgotten -> absent":
      "another key asks for the same agent id and this one has been silent for an hour | the other key is pending in its place",
    "agent_removed -> absent": "its agent is deleted, or all pending agents are removed",
  },
  accepted: {
    "superseded -> superseded":
      "a replacement key of the same agent is accepted | the replacement is the agent's accepted key from the same moment on",
    "blocked -> blocked":
      "an operator blocks an agent that has no pending key | listed in the blacklist; the agent is deleted",
    "agent_removed -> absent": "its agent is deleted",
  },
  superseded: {
    "agent_removed -> absent": "its agent is deleted",
  },
  blocked: {
    "unblocked -> absent":
      "an operator deletes its blacklist row, or all of them | its next heartbeat registers it as pending",
  },
})

/** Keys in every state share a table: only blocked ones have the last three columns. */
export interface StoredKey extends Omit<AgentsKeyRecord, "state"> {
  readonly state: AgentKeyRecord["state"]
  readonly blacklist_id?: BlockedKeyRecord["blacklist_id"]
  readonly blocked_at?: BlockedKeyRecord["blocked_at"]
  readonly hostname?: BlockedKeyRecord["hostname"]
}

/** Of blocked keys, which have all columns. */
const blacklist = {
  name: "blacklist",
  orders: { stored: ["blocked_at", "blacklist_id"] },
  plan: () => one({ conditions: [constant("r.state = 'blocked'")] }),
} as const satisfies Listing<keyof BlockedKeyRecord>

export const agent_key: KeyedShape<StoredKey, readonly ["key_hash"], readonly ["agent_id"]> & {
  readonly list: typeof blacklist
} = {
  name: "agent_key",
  key: ["key_hash"],
  locks: "rows",
  group: ["agent_id"],
  groupedWithout: "blacklist_id",
  list: blacklist,
  columns: {
    key_hash: text(),
    key_fingerprint: text(),
    agent_id: text(),
    state: text(),
    created_at: instant,
    last_seen_at: instant,
    blacklist_id: orAbsent(text()),
    blocked_at: orAbsent(instant),
    hostname: orAbsent(text()),
  },
}
