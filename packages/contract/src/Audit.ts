import { Schema } from "effect"
import { optional, timestamp } from "./Fields.ts"
import { InstantFromString } from "./Instant.ts"
import { paging } from "./Parameters.ts"
import { isPlainParameter } from "./Text.ts"

/** The kinds of thing that a change can concern, with the form of their IDs. */
export const AuditSubjectKinds = {
  agent: "the agent_id",
  check: "the agent_id and the check_id, joined by a slash",
  key: "the id of its row in the blacklist",
  enrolment: "the id of the enrolment",
  notification: "the id of the outbox item",
  incident: "the id of the incident",
  integration: "the integration's name",
  operator: "the operator's name",
  policy: "the hash of the policy",
  silence: "the id of the silence",
  watch: "the watch's name",
} as const
export type AuditSubjectKind = keyof typeof AuditSubjectKinds

interface AuditedChange {
  readonly subject: AuditSubjectKind
  /** The change to each subject. */
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
  "enrolment.created": {
    subject: "enrolment",
    change: "created; its only agent, if it has one",
    parameters: ["uses", "expires_at", "agent_id"],
  },
  "enrolment.removed": { subject: "enrolment", change: "deleted", parameters: [] },
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
  "integration.created": { subject: "integration", change: "created", parameters: ["kind"] },
  "integration.changed": { subject: "integration", change: "its options were replaced", parameters: [] },
  "integration.rotated": {
    subject: "integration",
    change: "its key was replaced, or a new one opened it",
    parameters: ["grace"],
  },
  "integration.removed": {
    subject: "integration",
    change: "removed with its agent, checks and history",
    parameters: [],
  },
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
  "policy.applied": {
    subject: "policy",
    change: "stored, to be in force on every server; the hash of the one before, and the text",
    parameters: ["version", "former", "text"],
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
  "watch.created": {
    subject: "watch",
    change: "created, by an operator or by the policy",
    parameters: ["probe"],
  },
  "watch.changed": { subject: "watch", change: "its options were changed", parameters: [] },
  "watch.paused": {
    subject: "watch",
    change: "paused; without an end, until it is resumed",
    parameters: ["until"],
  },
  "watch.resumed": { subject: "watch", change: "its pause was ended", parameters: [] },
  "watch.removed": { subject: "watch", change: "removed with its check and history", parameters: [] },
} as const satisfies Readonly<Record<string, AuditedChange>>
export type AuditActionName = keyof typeof AuditActions

/** The names of {@link AuditActions}. */
// Object.keys has lost the type of the names.
export const auditActionNames = Object.keys(AuditActions) as ReadonlyArray<AuditActionName>

/** The longest name of an actor. */
const ACTOR_LENGTH = { min: 1, max: 256 }

/** The actor of a change: an operator, `cli:` and a user of the system, `enrolment:` and its ID, or a name that a program gives. */
export const ActorName = Schema.String.check(isPlainParameter(ACTOR_LENGTH))

/** ID of an audit row: UUIDv7, lower case. */
export const AuditId = Schema.String.pipe(Schema.brand("AuditId"))
export type AuditId = typeof AuditId.Type

/** The way by which a change was made. */
export const AuditVia = Schema.Literals(["api", "cli", "library", "link", "system"])
export type AuditVia = typeof AuditVia.Type

const filters = {
  actor: optional(ActorName, "Only changes by this actor."),
  action: optional(
    // The message of a refusal does not list all of them.
    Schema.Literals(auditActionNames).annotate({
      expected: "an action of the audit, such as agent.accepted",
    }),
    "Only changes of this kind.",
  ),
  subject: optional(
    Schema.String.check(isPlainParameter({ min: 1, max: 512 })),
    "Only changes of the thing with this ID.",
  ),
  from: Schema.optionalKey(timestamp("Only changes at this time or later.")),
  to: Schema.optionalKey(timestamp("Only changes before this time.")),
}

/** The filters of the audit. */
export const AuditFilters = Schema.Struct(filters)

/** Query of GET /ops/v1/audit. */
export const AuditListParameters = Schema.Struct({ ...filters, ...paging })
export type AuditListParameters = typeof AuditListParameters.Type

const AuditSubject = Schema.Struct({
  // A newer version may know more kinds and actions.
  kind: Schema.String.annotateKey({ description: "Its kind, such as agent, check or incident." }),
  id: Schema.String,
})

/** One row of the audit, as it is shown. */
export const AuditEntry = Schema.Struct({
  id: AuditId,
  at: InstantFromString,
  actor: Schema.String.annotateKey({ description: "Who made the change." }),
  via: AuditVia.annotateKey({
    description: "link: a link in a message. system: Tocsin itself, when a time was over.",
  }),
  action: Schema.String.annotateKey({
    description: `The action: ${auditActionNames.join(", ")}.`,
  }),
  subjects: Schema.Array(AuditSubject).annotateKey({
    description: "The changed things. A change of more than 100 has further rows.",
  }),
  parameters: Schema.Record(
    Schema.String,
    Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null]),
  ).annotateKey({ description: "More about the change; empty for most." }),
  request_id: Schema.NullOr(Schema.String).annotateKey({
    description: "The X-Request-Id of the request that made the change; null without one.",
  }),
}).annotate({ identifier: "AuditEntry", description: "A change that someone made." })
export type AuditEntry = typeof AuditEntry.Type
