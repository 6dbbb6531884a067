import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ActionCountResponse } from "../v1/Responses.ts"
import { Session, SessionPath, SignedIn, SignInOptions } from "./Sessions.ts"
import {
  InvitationList,
  InvitationPath,
  Invited,
  InviteRequest,
  NewInvitation,
  SessionRequest,
} from "./Invitations.ts"
import { OperatorPath } from "../api/opsResources.ts"
import * as ApiErrors from "../api/ApiErrors.ts"
import { IgnoredBody, operatorsGroup, paged, role } from "../api/operation.ts"

/** The beginning of a session, by people who have no token yet (docs/rules.md#sign-in). */
export class SignInApi extends HttpApiGroup.make("signIn")
  .add(
    HttpApiEndpoint.get("getSignInOptions", "/session", { success: SignInOptions }),
    HttpApiEndpoint.post("signIn", "/session", {
      payload: SessionRequest,
      success: [SignedIn.pipe(HttpApiSchema.status(201)), Invited],
      error: [
        ApiErrors.Validation.wire,
        ApiErrors.Unauthorized.wire,
        ApiErrors.Forbidden.wire,
        ApiErrors.NotFound.wire,
        ApiErrors.RateLimited.wire,
        ApiErrors.Internal.wire,
        ApiErrors.IssuerFailed.wire,
      ],
    }),
  )
  .middleware(IgnoredBody) {}

/** Sessions (docs/rules.md#sign-in). */
export class SessionsApi extends operatorsGroup(
  "sessions",
  role.read.delete("signOut", "/session", { success: ActionCountResponse }),
  role.admin.post("invite", "/operators/:name/invitations", {
    params: OperatorPath,
    payload: InviteRequest,
    success: NewInvitation.pipe(HttpApiSchema.status(201)),
    error: [ApiErrors.NotFound.wire, ApiErrors.Conflict.wire],
  }),
  role.admin.get("listInvitations", "/operators/:name/invitations", {
    params: OperatorPath,
    success: InvitationList,
    error: ApiErrors.NotFound.wire,
  }),
  role.admin.delete("removeInvitation", "/operators/:name/invitations/:id", {
    params: InvitationPath,
    success: ActionCountResponse,
  }),
  role.admin.get("listSessions", "/sessions", paged(Session, "SessionPage")),
  role.admin.delete("endSession", "/sessions/:id", { params: SessionPath, success: ActionCountResponse }),
) {}
