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
import { IgnoredBody, RequiredRole, OperatorAuthentication, ValidParameters } from "./operation.ts"

const listEnrolments = HttpApiEndpoint.get("listEnrolments", "/enrolments", {
  query: EnrolmentListParameters,
  success: EnrolmentPage,
}).annotate(RequiredRole, "admin")

const removeEnrolment = HttpApiEndpoint.delete("removeEnrolment", "/enrolments/:id", {
  params: EnrolmentPath,
  success: ActionCountResponse,
}).annotate(RequiredRole, "admin")

const createEnrolment = HttpApiEndpoint.post("createEnrolment", "/enrolments", {
  payload: CreateEnrolmentRequest,
  success: EnrolmentWithToken.pipe(HttpApiSchema.status(201)),
  error: [Validation.wire, PayloadTooLarge.wire],
}).annotate(RequiredRole, "admin")

/** Enrolments (docs/rules.md#enrolment). */
export class EnrolmentsApi extends HttpApiGroup.make("enrolments")
  .add(listEnrolments, removeEnrolment)
  // This one reads its body itself.
  .middleware(IgnoredBody)
  .add(createEnrolment)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
