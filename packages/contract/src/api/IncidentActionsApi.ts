import { HttpApiSchema } from "effect/http-api"
import * as acknowledgements from "../acknowledgements/Acknowledgements.ts"
import { ActionCountResponse } from "../v1/Responses.ts"
import { Conflict, NotFound } from "./ApiErrors.ts"
import { IncidentPath } from "./opsResources.ts"
import { operatorsGroup, role } from "./operation.ts"

const incident = { params: IncidentPath, error: NotFound.wire }

export class IncidentActionsApi extends operatorsGroup(
  "incidentActions",
  role.respond.put("acknowledge", "/incidents/:id/acknowledgement", {
    ...incident,
    payload: acknowledgements.AcknowledgeRequest,
    success: acknowledgements.Acknowledgement,
    error: [NotFound.wire, Conflict.wire],
  }),
  role.respond.delete("withdrawAcknowledgement", "/incidents/:id/acknowledgement", {
    ...incident,
    success: ActionCountResponse,
  }),
  role.respond.post("acknowledgeAll", "/incidents/acknowledge", {
    payload: acknowledgements.AcknowledgeAllRequest,
    success: acknowledgements.AcknowledgedAll,
  }),
  role.respond.post("noteIncident", "/incidents/:id/notes", {
    ...incident,
    payload: acknowledgements.NoteRequest,
    success: acknowledgements.IncidentLogEntry.pipe(HttpApiSchema.status(201)),
  }),
) {}
