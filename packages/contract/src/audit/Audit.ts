import { Schema } from "effect"
import { auditActionNames } from "./AuditActions.ts"
import { described, named, optional, timestamp } from "../formats/Fields.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { flag, paging } from "../v1/Parameters.ts"
import { isPlainParameter } from "../formats/Text.ts"

/** The actor of a change: an operator, `cli:` and a user of the system, `enrolment:` and its ID, or a name that a program gives. */
export const ActorName = Schema.String.check(isPlainParameter({ min: 1, max: 256 }))

/** ID of an audit row: UUIDv7, lower case. */
export const AuditId = Schema.String.pipe(Schema.brand("AuditId"))
export type AuditId = typeof AuditId.Type

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

export const AuditFilters = Schema.Struct(filters)

export const AuditListParameters = Schema.Struct({
  ...filters,
  with_titles: flag("With the title that the first subject of each change has now."),
  ...paging,
})
export type AuditListParameters = typeof AuditListParameters.Type

const AuditSubject = Schema.Struct({
  // A newer version may know more kinds and actions.
  kind: Schema.String.annotateKey({ description: "Its kind, such as agent, check or incident." }),
  id: Schema.String,
  title: optional(
    Schema.String,
    "With with_titles: how people call it now, where it is a check or an agent with a title.",
  ),
})

export const AuditEntry = Schema.Struct({
  id: AuditId,
  at: InstantFromString,
  actor: Schema.String.annotateKey({ description: "Who made the change." }),
  via: described(AuditVia, "link: a link in a message. system: Tocsin itself, when a time was over."),
  action: described(Schema.String, `The action: ${auditActionNames.join(", ")}.`),
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
}).annotate(named("AuditEntry", "A change that someone made."))
export type AuditEntry = typeof AuditEntry.Type
