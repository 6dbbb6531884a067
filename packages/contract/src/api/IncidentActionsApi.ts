import * as contract from "../Acknowledgements.ts"
import { ActionCountResponse } from "../Responses.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Conflict, NotFound, PayloadTooLarge } from "./ApiErrors.ts"
import { IncidentPath } from "./opsResources.ts"
import { IgnoredBody, RequiredRole, OperatorAuthentication, ValidParameters } from "./operation.ts"

const params = IncidentPath
const error = [NotFound.wire, PayloadTooLarge.wire] as const

const acknowledge = HttpApiEndpoint.put("acknowledge", "/incidents/:id/acknowledgement", {
  params,
  payload: contract.AcknowledgeRequest,
  success: contract.Acknowledgement,
  error: [...error, Conflict.wire],
}).annotate(RequiredRole, "respond")

const withdraw = HttpApiEndpoint.delete("withdrawAcknowledgement", "/incidents/:id/acknowledgement", {
  params,
  success: ActionCountResponse,
  error: NotFound.wire,
})
  .middleware(IgnoredBody)
  .annotate(RequiredRole, "respond")

const acknowledgeAll = HttpApiEndpoint.post("acknowledgeAll", "/incidents/acknowledge", {
  payload: contract.AcknowledgeAllRequest,
  success: contract.AcknowledgedAll,
  error: PayloadTooLarge.wire,
}).annotate(RequiredRole, "respond")

const note = HttpApiEndpoint.post("noteIncident", "/incidents/:id/notes", {
  params,
  payload: contract.NoteRequest,
  success: contract.IncidentLogEntry.pipe(HttpApiSchema.status(201)),
  error,
}).annotate(RequiredRole, "respond")

/** Operators' actions on incidents. These operations read bodies. */
export class IncidentActionsApi extends HttpApiGroup.make("incidentActions")
  .add(acknowledge, withdraw, acknowledgeAll, note)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
