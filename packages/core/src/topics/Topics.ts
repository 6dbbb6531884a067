import { type Topic, topicNames } from "@tocsin/contract/Topics"
import { type AgentRecord, isSameReport } from "../model/AgentRecord.ts"
import { type AuditActionName, type AuditSubjectKind, auditSubjectKind } from "@tocsin/contract/AuditActions"
import type { ExpectationRecord } from "../model/ExpectationRecord.ts"

/** A set of topics: a bit for each, so that uniting them on the way of every command costs nothing. */
export type Topics = number

export const NO_TOPICS: Topics = 0

/** A topic as a set of one. */
export const topic = (name: Topic): Topics => 1 << topicNames.indexOf(name)

export const ALL_TOPICS: Topics = (1 << topicNames.length) - 1

/** The names in a set, in the order of the contract. */
export const namesOf = (topics: Topics): ReadonlyArray<Topic> =>
  topicNames.filter((name) => (topics & topic(name)) !== 0)

/** The set of these names. Names of newer versions are left out. */
export const topicsNamed = (names: ReadonlyArray<string>): Topics =>
  topicNames.reduce((topics, name) => (names.includes(name) ? topics | topic(name) : topics), NO_TOPICS)

const AGENTS = topic("agents")
const CHECKS = topic("checks")

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

/** The topics of a changed agent: none for a heartbeat in time that says nothing new. */
export const topicsOfAgent = (before: AgentRecord | undefined, after: AgentRecord | undefined): Topics => {
  // The checks of a deleted agent leave every list with its row.
  if (after === undefined) return before?.admission_state === "accepted" ? AGENTS | CHECKS : AGENTS
  return before !== undefined && looksTheSame(before, after) ? NO_TOPICS : AGENTS
}

/** The topics of a changed expectation: none for its next evaluation. */
export const topicsOfExpectation = (
  before: ExpectationRecord | undefined,
  after: ExpectationRecord | undefined,
): Topics =>
  before?.incident_id === after?.incident_id &&
  before?.terms === after?.terms &&
  before?.running_since === after?.running_since
    ? NO_TOPICS
    : CHECKS

const subjectTopics: Readonly<Record<AuditSubjectKind, Topics>> = {
  agent: AGENTS,
  check: CHECKS,
  enrolment: topic("agents"),
  key: topic("blacklist"),
  notification: topic("outbox"),
  incident: topic("incidents"),
  integration: topic("integrations"),
  watch: topic("watches"),
  operator: topic("operators"),
  override: topic("rotas"),
  policy: topic("policy"),
  receiver: topic("policy"),
  secret: topic("policy"),
  session: topic("operators"),
  silence: topic("silences"),
  announcement: topic("announcements"),
}

/** The topics of an act: the audit, and what it is about. */
export const topicsOfAction = (action: AuditActionName): Topics => {
  const topics = topic("audit") | subjectTopics[auditSubjectKind(action)]
  return action === "agent.blocked" ? topics | topic("blacklist") : topics
}
