import { Context, type Redacted } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import { Forbidden, Internal, Unauthorized } from "./ApiErrors.ts"

/** The key that the agent of this request authenticates with. */
export class AgentKey extends Context.Service<AgentKey, Redacted.Redacted>()(
  "@tocsin/adapter-http/api/AgentKey",
) {}

/** Authentication of agents by their own keys (docs/rules.md#tokens). */
export class AgentAuthentication extends HttpApiMiddleware.Service<
  AgentAuthentication,
  { provides: AgentKey }
>()("@tocsin/adapter-http/api/AgentAuthentication", {
  error: [Unauthorized.wire],
  requiredForClient: true,
  security: {
    agentKey: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(
        OpenApi.Description,
        "The key that an agent generated for itself. An operator accepts it before its events count.",
      ),
    ),
  },
}) {}

/** Authentication of operators by a token of the service's settings (docs/rules.md#tokens). */
export class OperatorAuthentication extends HttpApiMiddleware.Service<OperatorAuthentication>()(
  "@tocsin/adapter-http/api/OperatorAuthentication",
  {
    error: [Unauthorized.wire, Forbidden.wire, Internal.wire],
    requiredForClient: true,
    security: {
      uiToken: HttpApiSecurity.bearer.pipe(
        HttpApiSecurity.annotate(
          OpenApi.Description,
          "A token of SERVICE_AUTH_TOKEN, or to read only, of SERVICE_READ_TOKEN, or of a named operator.",
        ),
      ),
    },
  },
) {}
