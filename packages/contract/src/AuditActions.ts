/** The kinds of thing that a change can concern, with the form of their IDs. */
export const AuditSubjectKinds = {
  agent: "the agent_id",
  check: "the agent_id and the check_id, joined by a slash",
  key: "the id of its row in the blacklist",
  notification: "the id of the outbox item",
  incident: "the id of the incident",
  operator: "the operator's name",
  policy: "the hash of the policy",
  silence: "the id of the silence",
} as const
export type AuditSubjectKind = keyof typeof AuditSubjectKinds

interface AuditedChange {
  readonly subject: AuditSubjectKind
  /** What happened to each subject. */
  readonly change: string
  /** The names of what the row adds. */
  readonly parameters: ReadonlyArray<string>
}

/**
 * Every change that the audit knows (docs/rules.md#audit). The documents, the filter and the page on
 * operators derive from it.
 */
export const AuditActions = {
  "agent.accepted": { subject: "agent", change: "its pending key was accepted", parameters: [] },
  "agent.blocked": {
    subject: "agent",
    change: "its pending key, or else its accepted one, was blocked",
    parameters: [],
  },
  "agent.deleted": { subject: "agent", change: "deleted with all it owned", parameters: [] },
  "key.unblocked": { subject: "key", change: "removed from the blacklist", parameters: [] },
  "check.deleted": { subject: "check", change: "deleted, or deleted before its agent", parameters: [] },
  "check.clock_reset": {
    subject: "check",
    change: "freed from a clock in the future",
    parameters: [],
  },
  "notification.replayed": { subject: "notification", change: "sent again after it failed", parameters: [] },
  "notification.released": {
    subject: "notification",
    change: "sent though it was held",
    parameters: [],
  },
  "incident.acknowledged": {
    subject: "incident",
    change: "acknowledged, or acknowledged again",
    parameters: ["until", "severity", "note"],
  },
  "incident.acknowledgement_withdrawn": {
    subject: "incident",
    change: "its acknowledgement was withdrawn",
    parameters: [],
  },
  "incident.acknowledgement_expired": {
    subject: "incident",
    change: "the time of its acknowledgement was over",
    parameters: [],
  },
  "incident.noted": { subject: "incident", change: "a note was added to its timeline", parameters: ["text"] },
  "operator.created": { subject: "operator", change: "created", parameters: ["role", "expires_at"] },
  "operator.changed": {
    subject: "operator",
    change: "its role or its expiry changed; the new values",
    parameters: ["role", "expires_at"],
  },
  "operator.rotated": { subject: "operator", change: "its token was replaced", parameters: ["grace"] },
  "operator.removed": { subject: "operator", change: "removed", parameters: [] },
  "policy.replaced": {
    subject: "policy",
    change: "put in force by a server in place of another one; the former hash, unless at a start",
    parameters: ["former"],
  },
  "silence.created": {
    subject: "silence",
    change: "created",
    parameters: ["matchers", "starts_at", "ends_at", "comment"],
  },
  "silence.changed": {
    subject: "silence",
    change: "its end or its comment changed; the new values",
    parameters: ["ends_at", "comment"],
  },
  "silence.expired": { subject: "silence", change: "ended before its time", parameters: [] },
} as const satisfies Readonly<Record<string, AuditedChange>>
export type AuditActionName = keyof typeof AuditActions

/** The names of {@link AuditActions}. */
// Object.keys has lost the type of the names.
export const auditActionNames = Object.keys(AuditActions) as ReadonlyArray<AuditActionName>
