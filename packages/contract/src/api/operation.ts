import { type Array, Context, type Redacted, type Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import type { Role } from "../operators/Operators.ts"
import { PageParameters } from "../v1/Parameters.ts"
import { pageOf } from "../v1/Responses.ts"
import { Forbidden, Internal, PayloadTooLarge, Unauthorized, Validation } from "./ApiErrors.ts"

/** Refuses parameters of path and query that do not fit their schemas (docs/rules.md#queries). */
export class ValidParameters extends HttpApiMiddleware.Service<ValidParameters>()(
  "@tocsin/adapter-http/api/ValidParameters",
  { error: Validation.wire },
) {}

/**
 * Ignores the body of a request that needs none, up to 1 MiB (docs/rules.md#bodies). Operations with a body read it
 * themselves, with the same limit.
 */
export class IgnoredBody extends HttpApiMiddleware.Service<IgnoredBody>()(
  "@tocsin/adapter-http/api/IgnoredBody",
  { error: PayloadTooLarge.wire },
) {}

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

/** The role that an operation requires: every operation of operators has this annotation. */
export class RequiredRole extends Context.Service<RequiredRole, Role>()(
  "@tocsin/adapter-http/api/RequiredRole",
) {}

type MakeEndpoint = (...definition: ReadonlyArray<unknown>) => HttpApiEndpoint.Top

const requiring = (needed: Role) => {
  const making = <Make>(make: Make): Make => {
    // The annotation leaves the type of an endpoint as it is.
    const annotated: MakeEndpoint = (...definition) =>
      (make as MakeEndpoint)(...definition).annotate(RequiredRole, needed)
    return annotated as Make
  }
  return {
    get: making(HttpApiEndpoint.get),
    put: making(HttpApiEndpoint.put),
    post: making(HttpApiEndpoint.post),
    patch: making(HttpApiEndpoint.patch),
    delete: making(HttpApiEndpoint.delete),
  }
}

/** Makes endpoints of operators, by the role that they require and their method. */
export const role = { read: requiring("read"), respond: requiring("respond"), admin: requiring("admin") }

/** A group of operators' endpoints. The last of its rules is the first that a request meets. */
export const operatorsGroup = <
  const Name extends string,
  const Endpoints extends Array.NonEmptyReadonlyArray<HttpApiEndpoint.Constraint>,
>(
  name: Name,
  ...endpoints: Endpoints
) =>
  HttpApiGroup.make(name)
    .add(...endpoints)
    .middleware(ValidParameters)
    .middleware(IgnoredBody)
    .middleware(OperatorAuthentication)

/** The request for a page of a list without filters, and its answer. */
export const paged = <Item extends Schema.Top>(item: Item, page: string) => ({
  query: PageParameters,
  success: pageOf(item, page),
})
