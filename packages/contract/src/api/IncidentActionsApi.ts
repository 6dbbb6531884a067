import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import * as acknowledgements from "../Acknowledgements.ts"
import { SilenceCreationParameters, SilenceListParameters } from "../Parameters.ts"
import { ActionCountResponse, pageOf } from "../Responses.ts"
import { Silence, SilenceChangeRequest, SilencePreview, SilenceRequest } from "../Silences.ts"
import { Conflict, NotFound, PayloadTooLarge } from "./ApiErrors.ts"
import { IncidentPath, SilencePath } from "./opsResources.ts"
import { IgnoredBody, OperatorAuthentication, role, ValidParameters } from "./operation.ts"

/** Operators' actions on incidents. These operations read bodies. */
export class IncidentActionsApi extends HttpApiGroup.make("incidentActions")
  .add(
    role.respond.put("acknowledge", "/incidents/:id/acknowledgement", {
      params: IncidentPath,
      payload: acknowledgements.AcknowledgeRequest,
      success: acknowledgements.Acknowledgement,
      error: [NotFound.wire, PayloadTooLarge.wire, Conflict.wire],
    }),
    role.respond
      .delete("withdrawAcknowledgement", "/incidents/:id/acknowledgement", {
        params: IncidentPath,
        success: ActionCountResponse,
        error: NotFound.wire,
      })
      .middleware(IgnoredBody),
    role.respond.post("acknowledgeAll", "/incidents/acknowledge", {
      payload: acknowledgements.AcknowledgeAllRequest,
      success: acknowledgements.AcknowledgedAll,
      error: PayloadTooLarge.wire,
    }),
    role.respond.post("noteIncident", "/incidents/:id/notes", {
      params: IncidentPath,
      payload: acknowledgements.NoteRequest,
      success: acknowledgements.IncidentLogEntry.pipe(HttpApiSchema.status(201)),
      error: [NotFound.wire, PayloadTooLarge.wire],
    }),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}

/** Silences. Those with a body read it themselves, for the contract's messages. */
export class SilencesApi extends HttpApiGroup.make("silences")
  .add(
    role.read
      .get("listSilences", "/silences", {
        query: SilenceListParameters,
        success: pageOf(Silence, "SilencePage"),
      })
      .middleware(IgnoredBody),
    role.read
      .get("getSilence", "/silences/:id", {
        params: SilencePath,
        success: Silence,
        error: NotFound.wire,
      })
      .middleware(IgnoredBody),
    role.respond.post("createSilence", "/silences", {
      query: SilenceCreationParameters,
      payload: SilenceRequest,
      success: [Silence.pipe(HttpApiSchema.status(201)), SilencePreview],
      error: [Conflict.wire, PayloadTooLarge.wire],
    }),
    role.respond.patch("changeSilence", "/silences/:id", {
      params: SilencePath,
      payload: SilenceChangeRequest,
      success: Silence,
      error: [NotFound.wire, Conflict.wire, PayloadTooLarge.wire],
    }),
    role.respond
      .delete("expireSilence", "/silences/:id", {
        params: SilencePath,
        success: ActionCountResponse,
      })
      .middleware(IgnoredBody),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
