import { type Topic, topicNames } from "@tocsin/contract/liveViews/topicNames"
import { type AuditActionName, auditSubjectKind, auditTopics } from "@tocsin/contract/audit/AuditActions"

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

/** The topics of an act: the audit, and what it is about. */
export const topicsOfAction = (action: AuditActionName): Topics => {
  const topics = topic("audit") | topic(auditTopics[auditSubjectKind(action)])
  return action === "agent.blocked" ? topics | topic("blacklist") : topics
}
