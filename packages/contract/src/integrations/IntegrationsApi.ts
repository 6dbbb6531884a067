import { HttpApiSchema } from "effect/http-api"
import * as integrations from "./Integrations.ts"
import * as mails from "./Mails.ts"
import { RotateOperatorRequest } from "../operators/Operators.ts"
import { CheckPathParameters } from "../v1/Parameters.ts"
import { ActionCountResponse } from "../v1/Responses.ts"
import { Conflict, NotFound } from "../api/ApiErrors.ts"
import { operatorsGroup, paged, role } from "../api/operation.ts"

const error = NotFound.wire
const integration = { params: integrations.IntegrationPath }

/** Integrations (docs/rules.md#integrations). */
export class IntegrationsApi extends operatorsGroup(
  "integrations",
  role.read.get("listIntegrations", "/integrations", paged(integrations.Integration, "IntegrationPage")),
  role.read.get("getIntegration", "/integrations/:name", {
    ...integration,
    success: integrations.Integration,
    error,
  }),
  role.admin.delete("removeIntegration", "/integrations/:name", {
    ...integration,
    success: ActionCountResponse,
  }),
  role.admin.post("createIntegration", "/integrations", {
    payload: integrations.CreateIntegrationRequest,
    success: integrations.IntegrationWithKey.pipe(HttpApiSchema.status(201)),
    error: Conflict.wire,
  }),
  role.admin.patch("changeIntegration", "/integrations/:name", {
    ...integration,
    payload: integrations.ChangeIntegrationRequest,
    success: integrations.Integration,
    error,
  }),
  role.respond.get("listMails", "/integrations/:name/mails", {
    ...integration,
    success: mails.KeptMails,
    error,
  }),
  role.respond.post("tryMail", "/integrations/:name/try", {
    ...integration,
    payload: mails.TryMailRequest,
    success: mails.TriedMail,
    error: [NotFound.wire, Conflict.wire],
  }),
  role.admin.post("rotateIntegration", "/integrations/:name/rotate", {
    ...integration,
    payload: RotateOperatorRequest,
    success: integrations.IntegrationWithKey,
    error,
  }),
  role.respond.post("resolveCheck", "/checks/:agent_id/:check_id/resolve", {
    params: CheckPathParameters,
    success: ActionCountResponse,
    error: [NotFound.wire, Conflict.wire],
  }),
) {}
