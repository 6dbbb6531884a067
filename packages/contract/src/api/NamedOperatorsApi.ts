import { AgentListParameters } from "../Parameters.ts"
import {
  ChangeOperatorRequest,
  CreateOperatorRequest,
  Me,
  Operator,
  OperatorWithToken,
  RotateOperatorRequest,
} from "../Operators.ts"
import { ActionCountResponse } from "../Responses.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Conflict, NotFound, PayloadTooLarge, Validation } from "./ApiErrors.ts"
import { OperatorPage, OperatorPath } from "./opsResources.ts"
import { IgnoredBody, RequiredRole, OperatorAuthentication, ValidParameters } from "./operation.ts"

const me = HttpApiEndpoint.get("me", "/me", { success: Me }).annotate(RequiredRole, "read")

const listOperators = HttpApiEndpoint.get("listOperators", "/operators", {
  query: AgentListParameters,
  success: OperatorPage,
}).annotate(RequiredRole, "admin")

const removeOperator = HttpApiEndpoint.delete("removeOperator", "/operators/:name", {
  params: OperatorPath,
  success: ActionCountResponse,
}).annotate(RequiredRole, "admin")

const createOperator = HttpApiEndpoint.post("createOperator", "/operators", {
  payload: CreateOperatorRequest,
  success: OperatorWithToken.pipe(HttpApiSchema.status(201)),
  error: [Validation.wire, Conflict.wire, PayloadTooLarge.wire],
}).annotate(RequiredRole, "admin")

const withBody = [Validation.wire, NotFound.wire, PayloadTooLarge.wire] as const

const changeOperator = HttpApiEndpoint.patch("changeOperator", "/operators/:name", {
  params: OperatorPath,
  payload: ChangeOperatorRequest,
  success: Operator,
  error: withBody,
}).annotate(RequiredRole, "admin")

const rotateOperator = HttpApiEndpoint.post("rotateOperator", "/operators/:name/rotate", {
  params: OperatorPath,
  payload: RotateOperatorRequest,
  success: OperatorWithToken,
  error: withBody,
}).annotate(RequiredRole, "admin")

/** Named operators (docs/rules.md#operators). */
export class NamedOperatorsApi extends HttpApiGroup.make("operators")
  .add(me, listOperators, removeOperator)
  // These read their bodies themselves.
  .middleware(IgnoredBody)
  .add(createOperator, changeOperator, rotateOperator)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
