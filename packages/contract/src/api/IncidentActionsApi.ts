import { HttpApiSchema } from "effect/http-api"
import * as acknowledgements from "../Acknowledgements.ts"
import { SilenceCreationParameters, SilenceListParameters } from "../Parameters.ts"
import { ActionCountResponse, pageOf } from "../Responses.ts"
import { Silence, SilenceChangeRequest, SilencePreview, SilenceRequest } from "../Silences.ts"
import { Conflict, NotFound } from "./ApiErrors.ts"
import { IncidentPath, SilencePath } from "./opsResources.ts"
import { operatorsGroup, role } from "./operation.ts"

const incident = { params: IncidentPath, error: NotFound.wire }

/** Operators' actions on incidents. */
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

const silence = { params: SilencePath, success: Silence }

export class SilencesApi extends operatorsGroup(
  "silences",
  role.read.get("listSilences", "/silences", {
    query: SilenceListParameters,
    success: pageOf(Silence, "SilencePage"),
  }),
  role.read.get("getSilence", "/silences/:id", { ...silence, error: NotFound.wire }),
  role.respond.post("createSilence", "/silences", {
    query: SilenceCreationParameters,
    payload: SilenceRequest,
    success: [Silence.pipe(HttpApiSchema.status(201)), SilencePreview],
    error: Conflict.wire,
  }),
  role.respond.patch("changeSilence", "/silences/:id", {
    ...silence,
    payload: SilenceChangeRequest,
    error: [NotFound.wire, Conflict.wire],
  }),
  role.respond.delete("expireSilence", "/silences/:id", { ...silence, success: ActionCountResponse }),
) {}
