import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ActionCountResponse } from "../v1/Responses.ts"
import { Session, SessionPath, SignedIn, SignInOptions, SignInRequest } from "../signIn/Sessions.ts"
import * as ApiErrors from "./ApiErrors.ts"
import { IgnoredBody, operatorsGroup, paged, role } from "./operation.ts"

/** The beginning of a session, by people who have no token yet (docs/rules.md#sign-in). */
export class SignInApi extends HttpApiGroup.make("signIn")
  .add(
    HttpApiEndpoint.get("getSignInOptions", "/session", { success: SignInOptions }),
    HttpApiEndpoint.post("signIn", "/session", {
      payload: SignInRequest,
      success: SignedIn.pipe(HttpApiSchema.status(201)),
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
  role.admin.get("listSessions", "/sessions", paged(Session, "SessionPage")),
  role.admin.delete("endSession", "/sessions/:id", { params: SessionPath, success: ActionCountResponse }),
) {}
