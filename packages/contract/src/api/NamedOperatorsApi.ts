import { HttpApiSchema } from "effect/http-api"
import * as operators from "../operators/Operators.ts"
import { ActionCountResponse } from "../v1/Responses.ts"
import { Conflict, NotFound } from "./ApiErrors.ts"
import { OperatorPath } from "./opsResources.ts"
import { operatorsGroup, paged, role } from "./operation.ts"

const error = NotFound.wire
const operator = { params: OperatorPath }

/** Named operators (docs/rules.md#operators). */
export class NamedOperatorsApi extends operatorsGroup(
  "operators",
  role.read.get("me", "/me", { success: operators.Me }),
  role.admin.get("listOperators", "/operators", paged(operators.Operator, "OperatorPage")),
  role.admin.delete("removeOperator", "/operators/:name", { ...operator, success: ActionCountResponse }),
  role.admin.post("createOperator", "/operators", {
    payload: operators.CreateOperatorRequest,
    success: operators.OperatorWithToken.pipe(HttpApiSchema.status(201)),
    error: Conflict.wire,
  }),
  role.admin.patch("changeOperator", "/operators/:name", {
    ...operator,
    payload: operators.ChangeOperatorRequest,
    success: operators.Operator,
    error,
  }),
  role.admin.post("rotateOperator", "/operators/:name/rotate", {
    ...operator,
    payload: operators.RotateOperatorRequest,
    success: operators.OperatorWithToken,
    error,
  }),
) {}
