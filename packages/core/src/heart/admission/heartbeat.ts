import { Duration } from "effect"
import type { RegistrationId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { commandOf, type Decision, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { reachableFrom } from "../liveness/agentStatus.ts"
import { resolveHeartbeatIncident } from "../deadAgents/heartbeatIncident.ts"
import { noteProcess } from "../deadAgents/twiceIncident.ts"
import type { KeyIdentity } from "../../kernel/ports/Hashing.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import {
  AgentKeyTransitions,
  type AgentRecord,
  type AgentsKeyRecord,
  AgentTransitions,
  newAgent,
} from "../model/AgentRecord.ts"
import { isSameReport } from "../model/CheckRecord.ts"
import { declaredLabels, titled, type Titles } from "../model/titles.ts"
import type { HeartbeatOutcome } from "../model/admissionOutcomes.ts"
import { acceptKey, pendingKeyOf, recognise } from "./agentKeys.ts"

export interface HeartbeatInput {
  readonly request: HeartbeatRequest
  /** The ID of the agent's process, where it sends one. */
  readonly process?: string | undefined
  readonly key: KeyIdentity
  /** A simulation plays the agent of the watches as any other: without `watchAgent`. */
  readonly rules: Omit<RuleOptions, "watchAgent"> & Partial<Pick<RuleOptions, "watchAgent">>
  /** Whether an unknown key may be registered. If not, nothing changes and the outcome is `unknown_key`. */
  readonly mayRegister: boolean
  readonly incidents: IncidentOptions
  readonly newRegistrationId: (now: Instant.Instant) => RegistrationId
}

// Limits how often a blocked key updates its row (docs/rules.md#accept-block-remove).
const BLOCKED_KEY_SEEN_EVERY = Duration.minutes(1)

/** Whether a name belongs to an integration, open or closed, or to the watches: no agent may register it. */
function* isReserved(unit: UnitOfWork, { request: { agent_id }, rules }: HeartbeatInput): Decision<boolean> {
  const integration = yield* loadRow(unit, "integration", agent_id)
  return agent_id === rules.watchAgent || integration !== undefined
}

/** Decides a heartbeat: updates the agent, or registers its key (docs/rules.md#registration). */
export const heartbeat = commandOf(function* (unit, input: HeartbeatInput): Decision<HeartbeatOutcome> {
  const { request, key, rules } = input
  const found = yield* recognise(unit, { agent_id: request.agent_id, key_hash: key.key_hash })
  switch (found.standing) {
    case "accepted":
      unit.putAgent(
        found.agent.heartbeat_incident_id === undefined && !isOfAnother(found.agent, input)
          ? refreshed(unit, found.agent, input)
          : yield* heard(unit, found.agent, input),
      )
      return "seen"
    case "pending":
      return yield* pendingSeen(unit, found, input)
    case "blocked":
      if (!Instant.isRecent(found.key.last_seen_at, BLOCKED_KEY_SEEN_EVERY, unit.now))
        unit.keys.put({ ...found.key, last_seen_at: unit.now })
      return "blocked"
    case "superseded":
      return "superseded_key"
    case "key_of_another_agent":
      return "key_of_another_agent"
    case "unknown":
      if (!input.mayRegister) return "unknown_key"
      if (yield* isReserved(unit, input)) return "name_of_integration"
      if (rules.acceptFingerprints.has(key.key_fingerprint)) return yield* preseed(unit, found.agent, input)
      return found.agent === undefined
        ? yield* register(unit, input)
        : yield* registerReplacement(unit, found.agent, input)
  }
})

/** Whether a heartbeat is of another process than the last one. One that arrives late says nothing about that. */
const isOfAnother = ({ observed_at, process: before }: AgentRecord, input: HeartbeatInput) =>
  input.process !== undefined && input.process !== before && input.request.observed_at >= observed_at

/**
 * The agent after a heartbeat of its accepted key, or of one that is accepted now. Follows its processes, and
 * resolves its heartbeat incident, if any (docs/rules.md#heartbeat-incidents).
 */
function* heard(unit: UnitOfWork, agent: AgentRecord, input: HeartbeatInput): Decision<AgentRecord> {
  const { incidents, process, request } = input
  const processes =
    process !== undefined && isOfAnother(agent, input)
      ? yield* noteProcess(unit, agent, { hostname: request.hostname, process }, incidents)
      : undefined
  return yield* resolveHeartbeatIncident(unit, { ...refreshed(unit, agent, input), ...processes }, incidents)
}

/** The report of a heartbeat about its agent, whose titles stay. */
const reportedBy = ({ hostname, features, labels, observed_at }: HeartbeatRequest, agent: Titles = {}) => ({
  hostname,
  features,
  observed_at,
  ...titled(labels, agent),
})

/**
 * The agent as seen now. A heartbeat older than the last one updates only `last_seen_at`
 * (docs/rules.md#heartbeats).
 */
const refreshed = (
  unit: UnitOfWork,
  agent: AgentRecord,
  { incidents, request, rules }: HeartbeatInput,
): AgentRecord => {
  const { now } = unit
  const reachable_from = reachableFrom(agent, now, rules.staleAfter)
  if (request.observed_at < agent.observed_at) return { ...agent, last_seen_at: now, reachable_from }
  const { observed_at } = request
  const said = repeats(agent, request) ? agent : { ...agent, ...reportedBy(request, agent) }
  if (said !== agent && isComparedOtherwise(agent, said)) unit.raise("labels", incidents.newEventId)
  return { ...said, observed_at, last_seen_at: now, reachable_from }
}

/**
 * Whether a heartbeat repeats the stored report. The agent then keeps its objects: storages write and
 * remember only new ones.
 */
const repeats = (agent: AgentRecord, { hostname, features, labels }: HeartbeatRequest): boolean =>
  agent.hostname === hostname &&
  isSameReport(agent.features, features) &&
  isSameReport(declaredLabels(agent), labels)

/** Whether matchers may compare another hostname or other labels. A pending agent has no checks that they compare. */
const isComparedOtherwise = (before: AgentRecord, after: AgentRecord): boolean =>
  before.admission_state === "accepted" &&
  !(before.hostname === after.hostname && isSameReport(before.labels, after.labels))

function* pendingSeen(
  unit: UnitOfWork,
  found: { readonly agent: AgentRecord; readonly key: AgentsKeyRecord },
  input: HeartbeatInput,
): Decision<HeartbeatOutcome> {
  const key: AgentsKeyRecord = { ...found.key, last_seen_at: unit.now }
  if (input.rules.acceptFingerprints.has(key.key_fingerprint)) {
    const agent = yield* heard(unit, found.agent, input)
    yield* acceptKey(unit, agent, { ...key, state: "pending" }, "preseeded")
    return "preseeded"
  }
  unit.keys.put(key)
  const isFirstKey = found.agent.admission_state === "pending"
  if (isFirstKey) unit.putAgent(refreshed(unit, found.agent, input))
  return "pending"
}

const newKey = <State extends AgentsKeyRecord["state"]>(
  input: HeartbeatInput,
  state: State,
  now: Instant.Instant,
): AgentsKeyRecord & { readonly state: State } => ({
  ...input.key,
  agent_id: input.request.agent_id,
  state,
  created_at: now,
  last_seen_at: now,
})

const addAgent = (unit: UnitOfWork, input: HeartbeatInput, trigger: "preseeded" | "registered"): void => {
  const { agent_id } = input.request
  const key = newKey(input, move(AgentKeyTransitions, "absent", trigger), unit.now)
  const registration_id = input.newRegistrationId(unit.now)
  unit.keys.put(key)
  unit.putAgent(
    newAgent(
      { agent_id, registration_id, ...reportedBy(input.request) },
      key,
      move(AgentTransitions, "absent", trigger),
      unit.now,
    ),
  )
}

function* register(unit: UnitOfWork, input: HeartbeatInput): Decision<HeartbeatOutcome> {
  yield* load(unit, { pendingAgents: true })
  if (unit.pendingAgents >= input.rules.maxPendingAgents) return "too_many_pending_agents"
  addAgent(unit, input, "registered")
  return "registered"
}

function* registerReplacement(
  unit: UnitOfWork,
  agent: AgentRecord,
  input: HeartbeatInput,
): Decision<HeartbeatOutcome> {
  const other = yield* pendingKeyOf(unit, agent)
  if (other !== undefined) {
    if (other.last_seen_at > Instant.minus(unit.now, input.rules.pendingKeySilence))
      return "another_key_pending"
    move(AgentKeyTransitions, other.state, "forgotten")
    unit.keys.delete(other.key_hash)
  }
  const key = newKey(input, move(AgentKeyTransitions, "absent", "registered"), unit.now)
  unit.keys.put(key)
  // A new key updates the fields of a pending agent, not those of an accepted one
  // (docs/rules.md#rotation).
  const said =
    agent.admission_state === "pending"
      ? { ...agent, ...reportedBy(input.request, agent), last_seen_at: unit.now }
      : agent
  unit.putAgent({ ...said, pending_key_hash: key.key_hash, key_fingerprint: key.key_fingerprint })
  return agent.admission_state === "pending" ? "registered" : "replacement_registered"
}

function* preseed(
  unit: UnitOfWork,
  agent: AgentRecord | undefined,
  input: HeartbeatInput,
): Decision<HeartbeatOutcome> {
  if (agent === undefined) {
    addAgent(unit, input, "preseeded")
    return "preseeded"
  }
  const seen = yield* heard(unit, agent, input)
  yield* acceptKey(unit, seen, newKey(input, "pending", unit.now), "preseeded")
  return "preseeded"
}
