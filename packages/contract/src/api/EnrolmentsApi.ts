import {
  CreateEnrolmentRequest,
  EnrolmentListParameters,
  EnrolmentPage,
  EnrolmentPath,
  EnrolmentWithToken,
} from "../Enrolments.ts"
import { ActionCountResponse } from "../Responses.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { PayloadTooLarge, Validation } from "./ApiErrors.ts"
import { IgnoredBody, operationsOf, OperatorAuthentication, ValidParameters } from "./operation.ts"

const operation = operationsOf("Admission")

const listEnrolments = HttpApiEndpoint.get("listEnrolments", "/enrolments", {
  query: EnrolmentListParameters,
  success: EnrolmentPage,
}).annotateMerge(
  operation.admin("List enrolments", "Lists enrolments, the newest first, without their tokens."),
)

const removeEnrolment = HttpApiEndpoint.delete("removeEnrolment", "/enrolments/:id", {
  params: EnrolmentPath,
  success: ActionCountResponse,
}).annotateMerge(
  operation.admin(
    "Delete an enrolment",
    "Deletes an enrolment: its token admits nobody from now on. Agents that it admitted stay accepted. Safe to repeat.",
  ),
)

const createEnrolment = HttpApiEndpoint.post("createEnrolment", "/enrolments", {
  payload: CreateEnrolmentRequest,
  success: EnrolmentWithToken.pipe(HttpApiSchema.status(201)),
  error: [Validation.wire, PayloadTooLarge.wire],
}).annotateMerge(
  operation.admin(
    "Create an enrolment",
    "Creates a token by which new agents are accepted without an operator. The answer shows it, this once.",
  ),
)

/** Enrolments (docs/rules.md#enrolment). */
export class EnrolmentsApi extends HttpApiGroup.make("enrolments")
  .add(listEnrolments, removeEnrolment)
  // This one reads its body itself.
  .middleware(IgnoredBody)
  .add(createEnrolment)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
