import { createHash } from "node:crypto"
import {
  type AgentId,
  BlacklistId,
  type EventId,
  type IncidentId,
  IncidentKey,
  KeyFingerprint,
  KeyHash,
  type OutboxId,
  type RegistrationId,
} from "@tocsin/contract/formats/Identifiers"
import type { AuditId } from "@tocsin/contract/audit/Audit"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { Signature } from "@tocsin/core/heart/audit/recordAudit"
import { heartbeat } from "@tocsin/core/heart/admission/heartbeat"
import * as actions from "@tocsin/core/heart/admission/operatorActions"
import { applyBatch } from "@tocsin/core/heart/checks/applyBatch"
import { compilePolicy } from "@tocsin/core/heart/policy/compilePolicy"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { heartbeatOf, eventOf } from "@tocsin/testing/samples"

/** The only receiver. */
export const RECEIVER = "chat"

export const RULES = { ...defaultRules, notifiers: [RECEIVER] }

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
const POLICY = compilePolicy({}, [RECEIVER])

let made = 0
/** IDs of all worlds increase; worlds are compared without them. */
const newId =
  <Id extends string>() =>
  (now: Instant): Id => {
    made += 1
    const time = (now / 1_000n).toString(16).padStart(12, "0")
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${made.toString(16).padStart(12, "0")}` as Id
  }

/** The options of incident decisions. */
export const INCIDENTS = {
  policy: () => POLICY,
  staleAfter: RULES.staleAfter,
  sha256,
  newEventId: newId<EventId>(),
  newIncidentId: newId<IncidentId>(),
  newOutboxId: newId<OutboxId>(),
  newAuditId: newId<AuditId>(),
}

const signature: Signature = {
  actor: "ann",
  via: "api",
  request_id: undefined,
  newAuditId: newId<AuditId>(),
}

const keys = new Map<string, { readonly key_hash: KeyHash; readonly key_fingerprint: KeyFingerprint }>()

/** The n-th key of an agent. */
export const keyOf = (agent: AgentId, number = 1) => {
  const name = `${agent} key ${number}`
  const key = keys.get(name) ?? {
    key_hash: KeyHash.make(sha256(name)),
    key_fingerprint: KeyFingerprint.make(sha256(name).slice(0, 16)),
  }
  keys.set(name, key)
  return key
}

export const heartbeats = (agent: AgentId, now: Instant, key = keyOf(agent)) =>
  heartbeat({
    request: heartbeatOf(agent, { observed_at: now, hostname: "h" }),
    key,
    rules: RULES,
    mayRegister: true,
    incidents: INCIDENTS,
    newRegistrationId: newId<RegistrationId>(),
  })

export const reports = (agent: AgentId, check: "disk" | "load", status: CheckStatus, now: Instant) => {
  made += 1
  const event = eventOf(made, {
    check_id: check,
    observed_at: now,
    status,
    exit_code: status === "ok" ? 0 : 2,
  })
  const { incident_key: _, ...without } = event
  return applyBatch({
    request: {
      agent_id: agent,
      events: [check === "load" ? { ...without, incident_key: IncidentKey.make("shared") } : without],
    },
    key_hash: keyOf(agent).key_hash,
    incidents: INCIDENTS,
  })
}

const operator = { ...INCIDENTS, blacklistIdOf: (hash: KeyHash) => BlacklistId.make(sha256(`bl1:${hash}`)) }

export const accepts = (agent: AgentId) => actions.actOnOne("accept", agent, operator, signature)
export const acceptsEach = (agents: ReadonlyArray<AgentId>) =>
  actions.actOnEach("accept", agents, { ...operator, includeRotation: true }, signature)
export const blocks = (agent: AgentId) => actions.actOnOne("block", agent, operator, signature)
export const removes = (agent: AgentId) => actions.actOnOne("remove", agent, operator, signature)
