import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { PageParameters } from "../Parameters.ts"
import { ActionCountResponse, pageOf } from "../Responses.ts"
import { Session, SessionPath, SignedIn, SignInOptions, SignInRequest } from "../Sessions.ts"
import {
  Forbidden,
  Internal,
  IssuerFailed,
  NotFound,
  PayloadTooLarge,
  RateLimited,
  Unauthorized,
  Validation,
} from "./ApiErrors.ts"
import { IgnoredBody, OperatorAuthentication, role, ValidParameters } from "./operation.ts"

/** The beginning of a session, by people who have no token yet (docs/rules.md#sign-in). */
export class SignInApi extends HttpApiGroup.make("signIn")
  .add(HttpApiEndpoint.get("getSignInOptions", "/session", { success: SignInOptions }))
  .middleware(IgnoredBody)
  .add(
    HttpApiEndpoint.post("signIn", "/session", {
      payload: SignInRequest,
      success: SignedIn.pipe(HttpApiSchema.status(201)),
      error: [
        Validation.wire,
        Unauthorized.wire,
        Forbidden.wire,
        NotFound.wire,
        PayloadTooLarge.wire,
        RateLimited.wire,
        Internal.wire,
        IssuerFailed.wire,
      ],
    }),
  ) {}

/** Sessions (docs/rules.md#sign-in). */
export class SessionsApi extends HttpApiGroup.make("sessions")
  .add(
    role.read.delete("signOut", "/session", { success: ActionCountResponse }),
    role.admin.get("listSessions", "/sessions", {
      query: PageParameters,
      success: pageOf(Session, "SessionPage"),
    }),
    role.admin.delete("endSession", "/sessions/:id", { params: SessionPath, success: ActionCountResponse }),
  )
  .middleware(ValidParameters)
  .middleware(IgnoredBody)
  .middleware(OperatorAuthentication) {}
