import { Schema } from "effect"
import { boundedText, closedStruct, named, optional, timestamp } from "../formats/Fields.ts"
import { tokenIdOf } from "../formats/Identifiers.ts"
import { OperatorName, Role } from "../operators/Operators.ts"
import { SignInRequest } from "./Sessions.ts"

export const InvitationId = tokenIdOf("InvitationId", "an invitation").pipe(Schema.brand("InvitationId"))
export type InvitationId = typeof InvitationId.Type

/** A link by which an operator signs in once (docs/rules.md#invitations). */
export const Invitation = Schema.Struct({
  id: InvitationId,
  created_at: timestamp("When it was made."),
  created_by: Schema.String.annotateKey({ description: "The admin who made it." }),
  expires_at: timestamp("When it ends, if nobody has used it by then."),
}).annotate(named("Invitation", "A link by which an operator signs in once, without its token."))
export type Invitation = typeof Invitation.Type

export const NewInvitation = Schema.Struct({
  id: InvitationId,
  token: Schema.String.annotateKey({ description: "The token of its link. It is not shown again." }),
  expires_at: timestamp("When it ends, if nobody has used it by then."),
}).annotate(named("NewInvitation", "A new invitation with its token."))
export type NewInvitation = typeof NewInvitation.Type

export const InvitationList = Schema.Struct({ items: Schema.Array(Invitation) }).annotate(
  named("InvitationList", "The open invitations of an operator, the latest first."),
)

export const InviteRequest = Schema.Record(Schema.String, Schema.Never).annotate(
  named("InviteRequest", "An invitation has no options."),
)

export const InvitationPath = Schema.Struct({
  name: OperatorName.annotateKey({ description: "The name of an operator." }),
  id: InvitationId.annotateKey({ description: "The ID of an invitation." }),
})

export const InvitedSignInRequest = closedStruct({
  invitation: Schema.RedactedFromValue(
    boundedText(512).annotate({ description: "The token of an invitation.", writeOnly: true }),
  ),
  peek: optional(Schema.Boolean, "Whether to say whom it invites, and to use nothing."),
}).annotate(named("InvitedSignInRequest", "An invitation to exchange for a session."))
export type InvitedSignInRequest = typeof InvitedSignInRequest.Type

/** The beginning of a session: a code of the issuer, or an invitation. */
export const SessionRequest = Schema.Union([SignInRequest, InvitedSignInRequest]).annotate({
  expected: "{ code, verifier, nonce }, or { invitation, peek }",
})

export const Invited = Schema.Struct({
  name: OperatorName.annotateKey({ description: "The operator whom the invitation invites." }),
  role: Role,
  token: optional(Schema.String, "The token of the session, which is not shown again; absent with peek."),
  expires_at: Schema.optionalKey(timestamp("When the session ends; absent with peek.")),
}).annotate(named("Invited", "An invited operator, and the session that begins unless peek is true."))
export type Invited = typeof Invited.Type
