import { Schema } from "effect"
import { auditActionNames } from "./AuditActions.ts"
import { optional, timestamp } from "./Fields.ts"
import { InstantFromString } from "./Instant.ts"
import { paging } from "./Parameters.ts"
import { isPlainParameter } from "./Text.ts"

/** The longest name of an actor. */
const ACTOR_LENGTH = { min: 1, max: 256 }

/** Who makes a change: an operator, `cli:` and a user of the system, or what a program names. */
export const ActorName = Schema.String.check(isPlainParameter(ACTOR_LENGTH))

/** ID of an audit row: UUIDv7, lower case. */
export const AuditId = Schema.String.pipe(Schema.brand("AuditId"))
export type AuditId = typeof AuditId.Type

/** The way by which a change was made. */
export const AuditVia = Schema.Literals(["api", "cli", "library", "system"])
export type AuditVia = typeof AuditVia.Type

const filters = {
  actor: optional(ActorName, "Only changes by this actor."),
  action: optional(Schema.Literals(auditActionNames), "Only changes of this kind."),
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
  kind: Schema.String.annotateKey({ description: "What it is, such as agent, check or incident." }),
  id: Schema.String,
})

/** One row of the audit, as it is shown. */
export const AuditEntry = Schema.Struct({
  id: AuditId,
  at: InstantFromString,
  actor: Schema.String.annotateKey({ description: "Who made the change." }),
  via: AuditVia.annotateKey({ description: "system: Tocsin itself, when a time was over." }),
  action: Schema.String.annotateKey({
    description: `What was done: ${auditActionNames.join(", ")}.`,
  }),
  subjects: Schema.Array(AuditSubject).annotateKey({
    description: "What changed. A change of more than 100 things has further rows.",
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
