import * as contract from "../Silences.ts"
import { SilenceCreationParameters, SilenceListParameters } from "../Parameters.ts"
import { ActionCountResponse } from "../Responses.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Conflict, NotFound, PayloadTooLarge } from "./ApiErrors.ts"
import { SilencePage, SilencePath } from "./opsResources.ts"
import { IgnoredBody, RequiredRole, OperatorAuthentication, ValidParameters } from "./operation.ts"

const params = SilencePath

const listSilences = HttpApiEndpoint.get("listSilences", "/silences", {
  query: SilenceListParameters,
  success: SilencePage,
})
  .middleware(IgnoredBody)
  .annotate(RequiredRole, "read")

const getSilence = HttpApiEndpoint.get("getSilence", "/silences/:id", {
  params,
  success: contract.Silence,
  error: NotFound.wire,
})
  .middleware(IgnoredBody)
  .annotate(RequiredRole, "read")

const createSilence = HttpApiEndpoint.post("createSilence", "/silences", {
  query: SilenceCreationParameters,
  payload: contract.SilenceRequest,
  success: [contract.Silence.pipe(HttpApiSchema.status(201)), contract.SilencePreview],
  error: [Conflict.wire, PayloadTooLarge.wire],
}).annotate(RequiredRole, "respond")

const changeSilence = HttpApiEndpoint.patch("changeSilence", "/silences/:id", {
  params,
  payload: contract.SilenceChangeRequest,
  success: contract.Silence,
  error: [NotFound.wire, Conflict.wire, PayloadTooLarge.wire],
}).annotate(RequiredRole, "respond")

const expireSilence = HttpApiEndpoint.delete("expireSilence", "/silences/:id", {
  params,
  success: ActionCountResponse,
})
  .middleware(IgnoredBody)
  .annotate(RequiredRole, "respond")

/** Silences. Those with a body read it themselves, for the contract's messages. */
export class SilencesApi extends HttpApiGroup.make("silences")
  .add(listSilences, getSilence, createSilence, changeSilence, expireSilence)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
