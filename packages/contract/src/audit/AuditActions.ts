import type { Topic } from "../liveViews/topicNames.ts"

/**
 * Every change that the audit knows (docs/rules.md#audit): its kind of subject and a verb, the change to each
 * subject, and the names of what the row adds. The documents, the filter and the page on operators derive from it.
 */
export const AuditActions = {
  "agent.accepted": ["its pending key was accepted"],
  "agent.blocked": ["its pending key, or else its accepted one, was blocked"],
  "agent.deleted": ["deleted with all it owned"],
  "agent.titled": ["an operator's title was given, or taken back", "title"],
  "enrolment.created": ["created; its only agent, if it has one", "uses", "expires_at", "agent_id"],
  "enrolment.removed": ["deleted"],
  "key.unblocked": ["removed from the blacklist"],
  "announcement.created": [
    "created on a public page",
    "page",
    "kind",
    "title",
    "text",
    "lines",
    "starts_at",
    "ends_at",
  ],
  "announcement.updated": ["a text was added", "text"],
  "announcement.ended": ["ended before its time"],
  "check.deleted": ["deleted, or deleted before its agent"],
  "check.resolved": ["of an integration, made ok by an operator"],
  "check.titled": ["an operator's title was given, or taken back", "title"],
  "check.clock_reset": ["freed from a clock in the future"],
  "notification.replayed": ["sent again after it failed"],
  "notification.released": ["sent though it was held"],
  "incident.acknowledged": ["acknowledged, or acknowledged again", "until", "severity", "note"],
  "incident.acknowledgement_withdrawn": ["its acknowledgement was withdrawn"],
  "incident.acknowledgement_expired": ["the time of its acknowledgement was over"],
  "incident.noted": ["a note was added to its timeline", "text"],
  "integration.created": ["created", "kind"],
  "integration.changed": ["its options were replaced"],
  "integration.rotated": ["its key was replaced, or a new one opened it", "grace"],
  "integration.removed": ["removed with its agent, checks and history"],
  "operator.created": ["created", "role", "expires_at"],
  "operator.changed": ["its role or its expiry changed; the new values", "role", "expires_at"],
  "operator.rotated": ["its token was replaced", "grace"],
  "operator.removed": ["removed"],
  "override.created": ["created", "rota", "receivers", "from", "to", "note"],
  "override.ended": ["ended before its time"],
  "policy.replaced": [
    "put in force by a server in place of another one; the former hash, unless at a start",
    "former",
  ],
  "policy.applied": [
    "stored, to be in force on every server; the hash of the one before, and the text",
    "version",
    "former",
    "text",
  ],
  "push_key.replaced": ["replaced; how many browsers it removed", "removed"],
  "receiver.changed": ["defined, or replaced in the stored policy", "version"],
  "receiver.removed": ["removed from the stored policy", "version"],
  "secret.removed": ["deleted"],
  "secret.stored": ["stored in place of all former ones; which secrets", "keys"],
  "session.began": ["a person signed in by OpenID Connect, or by an invitation", "role", "expires_at"],
  "session.signed_out": ["its person signed out", "name"],
  "session.ended": ["ended by an admin, or as the oldest of too many; whose", "name"],
  "invitation.created": ["an operator may sign in once by a link", "operator", "expires_at"],
  "invitation.removed": ["deleted", "operator"],
  "setting.changed": ["stored; every server follows it", "value"],
  "setting.removed": ["removed, so that its default holds again; what it was", "value"],
  "silence.created": ["created", "matchers", "starts_at", "ends_at", "comment"],
  "silence.changed": ["its end or its comment changed; the new values", "ends_at", "comment"],
  "silence.expired": ["ended before its time"],
  "subscription.created": ["a browser gets notifications of an operator", "operator", "name", "service"],
  "subscription.removed": ["a browser gets none any more", "operator", "name"],
  "watch.created": ["created, by an operator or by the policy", "probe"],
  "watch.changed": ["its options were changed"],
  "watch.paused": ["paused; without an end, until it is resumed", "until"],
  "watch.resumed": ["its pause was ended"],
  "watch.removed": ["removed with its check and history"],
} as const satisfies Readonly<
  Record<`${string}.${string}`, readonly [change: string, ...parameters: ReadonlyArray<string>]>
>
export type AuditActionName = keyof typeof AuditActions

/** The kinds of thing that a change can concern. docs/operators.md#actions has the form of their IDs. */
export type AuditSubjectKind = AuditActionName extends `${infer Kind}.${string}` ? Kind : never

/** The topic of a change of each kind (docs/rules.md#live-views). */
export const auditTopics: Readonly<Record<AuditSubjectKind, Topic>> = {
  agent: "agents",
  announcement: "announcements",
  check: "checks",
  enrolment: "agents",
  incident: "incidents",
  integration: "integrations",
  invitation: "operators",
  key: "blacklist",
  notification: "outbox",
  operator: "operators",
  override: "rotas",
  policy: "policy",
  push_key: "operators",
  receiver: "policy",
  secret: "policy",
  session: "operators",
  setting: "policy",
  silence: "silences",
  subscription: "operators",
  watch: "watches",
}

/** The names of what the row of an action adds. */
export type AuditParameterName<Action extends AuditActionName> =
  (typeof AuditActions)[Action] extends readonly [string, ...infer Names extends ReadonlyArray<string>]
    ? Names[number]
    : never

export const auditSubjectKind = (action: AuditActionName): AuditSubjectKind =>
  // Each name begins with one.
  action.slice(0, action.indexOf(".")) as AuditSubjectKind

// Object.keys has lost the type of the names.
export const auditActionNames = Object.keys(AuditActions) as ReadonlyArray<AuditActionName>
