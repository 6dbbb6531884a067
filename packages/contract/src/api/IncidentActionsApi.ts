import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import * as acknowledgements from "../Acknowledgements.ts"
import { SilenceCreationParameters, SilenceListParameters } from "../Parameters.ts"
import { ActionCountResponse, pageOf } from "../Responses.ts"
import { Silence, SilenceChangeRequest, SilencePreview, SilenceRequest } from "../Silences.ts"
import { Conflict, NotFound, PayloadTooLarge } from "./ApiErrors.ts"
import { IncidentPath, SilencePath } from "./opsResources.ts"
import { IgnoredBody, OperatorAuthentication, RequiredRole, ValidParameters } from "./operation.ts"

/** Operators' actions on incidents. These operations read bodies. */
export class IncidentActionsApi extends HttpApiGroup.make("incidentActions")
  .add(
    HttpApiEndpoint.put("acknowledge", "/incidents/:id/acknowledgement", {
      params: IncidentPath,
      payload: acknowledgements.AcknowledgeRequest,
      success: acknowledgements.Acknowledgement,
      error: [NotFound.wire, PayloadTooLarge.wire, Conflict.wire],
    }).annotate(RequiredRole, "respond"),
    HttpApiEndpoint.delete("withdrawAcknowledgement", "/incidents/:id/acknowledgement", {
      params: IncidentPath,
      success: ActionCountResponse,
      error: NotFound.wire,
    })
      .middleware(IgnoredBody)
      .annotate(RequiredRole, "respond"),
    HttpApiEndpoint.post("acknowledgeAll", "/incidents/acknowledge", {
      payload: acknowledgements.AcknowledgeAllRequest,
      success: acknowledgements.AcknowledgedAll,
      error: PayloadTooLarge.wire,
    }).annotate(RequiredRole, "respond"),
    HttpApiEndpoint.post("noteIncident", "/incidents/:id/notes", {
      params: IncidentPath,
      payload: acknowledgements.NoteRequest,
      success: acknowledgements.IncidentLogEntry.pipe(HttpApiSchema.status(201)),
      error: [NotFound.wire, PayloadTooLarge.wire],
    }).annotate(RequiredRole, "respond"),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}

/** Silences. Those with a body read it themselves, for the contract's messages. */
export class SilencesApi extends HttpApiGroup.make("silences")
  .add(
    HttpApiEndpoint.get("listSilences", "/silences", {
      query: SilenceListParameters,
      success: pageOf(Silence, "SilencePage"),
    })
      .middleware(IgnoredBody)
      .annotate(RequiredRole, "read"),
    HttpApiEndpoint.get("getSilence", "/silences/:id", {
      params: SilencePath,
      success: Silence,
      error: NotFound.wire,
    })
      .middleware(IgnoredBody)
      .annotate(RequiredRole, "read"),
    HttpApiEndpoint.post("createSilence", "/silences", {
      query: SilenceCreationParameters,
      payload: SilenceRequest,
      success: [Silence.pipe(HttpApiSchema.status(201)), SilencePreview],
      error: [Conflict.wire, PayloadTooLarge.wire],
    }).annotate(RequiredRole, "respond"),
    HttpApiEndpoint.patch("changeSilence", "/silences/:id", {
      params: SilencePath,
      payload: SilenceChangeRequest,
      success: Silence,
      error: [NotFound.wire, Conflict.wire, PayloadTooLarge.wire],
    }).annotate(RequiredRole, "respond"),
    HttpApiEndpoint.delete("expireSilence", "/silences/:id", {
      params: SilencePath,
      success: ActionCountResponse,
    })
      .middleware(IgnoredBody)
      .annotate(RequiredRole, "respond"),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
