import { Schema } from "effect"
import { DurationText } from "../formats/DurationText.ts"
import { closedStruct, named, optional, timestamp } from "../formats/Fields.ts"
import { InstantFromString } from "../formats/Instant.ts"

/** An operator's rights. Each role includes the ones before it (docs/rules.md#operators). */
export const Role = Schema.Literals(["read", "respond", "admin"]).annotate(
  named("Role", "The rights of an operator. Each role includes the ones before it."),
)
export type Role = typeof Role.Type

export const includesRole = (held: Role, needed: Role): boolean =>
  Role.literals.indexOf(held) >= Role.literals.indexOf(needed)

// Names of tokens in the settings begin with `token-`.
const NAME = /^(?!token-)[a-z0-9][a-z0-9._-]{0,62}$/u

/** Names an operator (docs/rules.md#operators). */
export const OperatorName = Schema.String.check(
  Schema.isPattern(NAME, {
    identifier: "OperatorName",
    description: "Names an operator. It cannot begin with token-.",
    expected:
      "1 to 63 lower-case letters, digits or the characters . _ -, beginning with a letter or digit, and not with token- or cli:",
    toJsonSchema: () => ({ maxLength: 63, pattern: "^[a-z0-9][a-z0-9._-]*$" }),
  }),
).pipe(Schema.brand("OperatorName"))
export type OperatorName = typeof OperatorName.Type

export const CreateOperatorRequest = closedStruct({
  name: OperatorName,
  role: Role,
  expires_at: Schema.optionalKey(timestamp("When the operator expires; never without.")),
}).annotate(named("CreateOperatorRequest", "A new operator."))
export type CreateOperatorRequest = typeof CreateOperatorRequest.Type

export const ChangeOperatorRequest = closedStruct({
  role: Schema.optionalKey(Role),
  expires_at: optional(Schema.NullOr(InstantFromString), "When the operator expires; null for never."),
}).annotate(named("ChangeOperatorRequest", "Absent fields stay as they are."))
export type ChangeOperatorRequest = typeof ChangeOperatorRequest.Type

export const RotateOperatorRequest = closedStruct({
  grace: optional(
    DurationText({ min: "0 seconds", max: "7 days" }),
    "How long the former token stays valid: 24h unless given, 0s for not at all.",
  ),
}).annotate(named("RotateOperatorRequest", "How to replace a token."))
export type RotateOperatorRequest = typeof RotateOperatorRequest.Type

export const Operator = Schema.Struct({
  name: OperatorName,
  role: Role,
  created_at: InstantFromString,
  created_by: Schema.String.annotateKey({ description: "The operator who created it." }),
  expires_at: Schema.NullOr(InstantFromString).annotateKey({ description: "Null if it never expires." }),
  last_used_at: Schema.NullOr(InstantFromString).annotateKey({
    description: "Updated at most once a minute; null if it was never used.",
  }),
}).annotate(named("Operator", "Someone with a token of their own."))
export type Operator = typeof Operator.Type

export const OperatorWithToken = Schema.Struct({
  ...Operator.fields,
  token: Schema.String.annotateKey({ description: "The new token. It is not shown again." }),
}).annotate(named("OperatorWithToken", "An operator with its new token."))
export type OperatorWithToken = typeof OperatorWithToken.Type

export const Me = Schema.Struct({
  name: Schema.String.annotateKey({
    description: "The operator's name, or token- and eight digits for a token of the settings.",
  }),
  role: Role,
  expires_at: Schema.optionalKey(timestamp("When the operator expires; absent if never.")),
  acknowledges_for: Schema.String.annotateKey({
    description: "How long an acknowledgement lasts that says neither for nor until, such as 8h.",
  }),
}).annotate(named("Me", "The operator whose token the request has."))
export type Me = typeof Me.Type
