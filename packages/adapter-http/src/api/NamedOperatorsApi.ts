import { AgentListParameters } from "@tocsin/core/contract/Parameters"
import {
  ChangeOperatorRequest,
  CreateOperatorRequest,
  Me,
  Operator,
  OperatorWithToken,
  RotateOperatorRequest,
} from "@tocsin/core/contract/Operators"
import { ActionCountResponse } from "@tocsin/core/contract/Responses"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Conflict, Internal, NotFound, PayloadTooLarge, Validation } from "./ApiErrors.ts"
import { OperatorAuthentication } from "./Authentication.ts"
import { operation } from "./operation.ts"
import { OperatorPage, OperatorPath } from "./opsResources.ts"
import { RequiredRole } from "./RequiredRole.ts"
import { IgnoredBody, ValidParameters } from "./RequestRules.ts"

const TAG = "Operators"

const me = HttpApiEndpoint.get("me", "/me", { success: Me, error: Internal.wire })
  .annotateMerge(
    operation(TAG, "Show whose token this is", "Shows the name and the role of the operator who asks."),
  )
  .annotate(RequiredRole, "read")

const listOperators = HttpApiEndpoint.get("listOperators", "/operators", {
  query: AgentListParameters,
  success: OperatorPage,
  error: Internal.wire,
})
  .annotateMerge(operation(TAG, "List operators", "Lists named operators by name, without their tokens."))
  .annotate(RequiredRole, "admin")

const removeOperator = HttpApiEndpoint.delete("removeOperator", "/operators/:name", {
  params: OperatorPath,
  success: ActionCountResponse,
  error: Internal.wire,
})
  .annotateMerge(
    operation(
      TAG,
      "Remove an operator",
      "Removes an operator. The tokens end at the next request, on every replica. Safe to repeat.",
    ),
  )
  .annotate(RequiredRole, "admin")

const createOperator = HttpApiEndpoint.post("createOperator", "/operators", {
  payload: CreateOperatorRequest,
  success: OperatorWithToken.pipe(HttpApiSchema.status(201)),
  error: [Internal.wire, Validation.wire, Conflict.wire, PayloadTooLarge.wire],
})
  .annotateMerge(
    operation(
      TAG,
      "Create an operator",
      "Creates an operator. The answer shows the token, this once. Answers 409 if the name is in use.",
    ),
  )
  .annotate(RequiredRole, "admin")

const withBody = [Internal.wire, Validation.wire, NotFound.wire, PayloadTooLarge.wire] as const

const changeOperator = HttpApiEndpoint.patch("changeOperator", "/operators/:name", {
  params: OperatorPath,
  payload: ChangeOperatorRequest,
  success: Operator,
  error: withBody,
})
  .annotateMerge(
    operation(
      TAG,
      "Change an operator",
      "Changes the role or the expiry of an operator, from the next request on.",
    ),
  )
  .annotate(RequiredRole, "admin")

const rotateOperator = HttpApiEndpoint.post("rotateOperator", "/operators/:name/rotate", {
  params: OperatorPath,
  payload: RotateOperatorRequest,
  success: OperatorWithToken,
  error: withBody,
})
  .annotateMerge(
    operation(
      TAG,
      "Replace an operator's token",
      "Replaces the token. The answer shows the new one, this once. The former one stays valid for `grace`.",
    ),
  )
  .annotate(RequiredRole, "admin")

/** Named operators (docs/rules.md#operators). */
export class NamedOperatorsApi extends HttpApiGroup.make("operators")
  .add(me, listOperators, removeOperator)
  // These read their bodies themselves.
  .middleware(IgnoredBody)
  .add(createOperator, changeOperator, rotateOperator)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
