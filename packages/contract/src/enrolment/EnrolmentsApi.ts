import { HttpApiSchema } from "effect/http-api"
import { AgentDownload } from "./AgentDownload.ts"
import * as enrolments from "./Enrolments.ts"
import { ActionCountResponse } from "../v1/Responses.ts"
import { NotFound } from "../api/ApiErrors.ts"
import { operatorsGroup, paged, role } from "../api/operation.ts"

/** Enrolments (docs/rules.md#enrolment), and what installs agents. */
export class EnrolmentsApi extends operatorsGroup(
  "enrolments",
  role.read.get("getAgentDownload", "/agent_download", { success: AgentDownload, error: NotFound.wire }),
  role.admin.get("listEnrolments", "/enrolments", paged(enrolments.Enrolment, "EnrolmentPage")),
  role.admin.delete("removeEnrolment", "/enrolments/:id", {
    params: enrolments.EnrolmentPath,
    success: ActionCountResponse,
  }),
  role.admin.post("createEnrolment", "/enrolments", {
    payload: enrolments.CreateEnrolmentRequest,
    success: enrolments.EnrolmentWithToken.pipe(HttpApiSchema.status(201)),
  }),
) {}
