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
import { IgnoredBody, operationsOf, OperatorAuthentication, ValidParameters } from "./operation.ts"

const operation = operationsOf("Operators")

const me = HttpApiEndpoint.get("me", "/me", { success: Me }).annotateMerge(
  operation.read("Show whose token this is", "Shows the name and the role of the operator who asks."),
)

const listOperators = HttpApiEndpoint.get("listOperators", "/operators", {
  query: AgentListParameters,
  success: OperatorPage,
}).annotateMerge(operation.admin("List operators", "Lists named operators by name, without their tokens."))

const removeOperator = HttpApiEndpoint.delete("removeOperator", "/operators/:name", {
  params: OperatorPath,
  success: ActionCountResponse,
}).annotateMerge(
  operation.admin(
    "Remove an operator",
    "Removes an operator. The tokens end at the next request, on every replica. Safe to repeat.",
  ),
)

const createOperator = HttpApiEndpoint.post("createOperator", "/operators", {
  payload: CreateOperatorRequest,
  success: OperatorWithToken.pipe(HttpApiSchema.status(201)),
  error: [Validation.wire, Conflict.wire, PayloadTooLarge.wire],
}).annotateMerge(
  operation.admin(
    "Create an operator",
    "Creates an operator. The answer shows the token, this once. Answers 409 if the name is in use.",
  ),
)

const withBody = [Validation.wire, NotFound.wire, PayloadTooLarge.wire] as const

const changeOperator = HttpApiEndpoint.patch("changeOperator", "/operators/:name", {
  params: OperatorPath,
  payload: ChangeOperatorRequest,
  success: Operator,
  error: withBody,
}).annotateMerge(
  operation.admin(
    "Change an operator",
    "Changes the role or the expiry of an operator, from the next request on.",
  ),
)

const rotateOperator = HttpApiEndpoint.post("rotateOperator", "/operators/:name/rotate", {
  params: OperatorPath,
  payload: RotateOperatorRequest,
  success: OperatorWithToken,
  error: withBody,
}).annotateMerge(
  operation.admin(
    "Replace an operator's token",
    "Replaces the token. The answer shows the new one, this once. The former one stays valid for `grace`.",
  ),
)

/** Named operators (docs/rules.md#operators). */
export class NamedOperatorsApi extends HttpApiGroup.make("operators")
  .add(me, listOperators, removeOperator)
  // These read their bodies themselves.
  .middleware(IgnoredBody)
  .add(createOperator, changeOperator, rotateOperator)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
