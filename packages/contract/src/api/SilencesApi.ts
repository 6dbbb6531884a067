import * as contract from "../Silences.ts"
import { SilenceCreationParameters, SilenceListParameters } from "../Parameters.ts"
import { ActionCountResponse } from "../Responses.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Conflict, NotFound, PayloadTooLarge } from "./ApiErrors.ts"
import { SilencePage, SilencePath } from "./opsResources.ts"
import { IgnoredBody, operationsOf, OperatorAuthentication, ValidParameters } from "./operation.ts"

const operation = operationsOf("Silences")

const params = SilencePath

const listSilences = HttpApiEndpoint.get("listSilences", "/silences", {
  query: SilenceListParameters,
  success: SilencePage,
})
  .middleware(IgnoredBody)
  .annotateMerge(operation.read("List silences", "Lists silences, the newest first."))

const getSilence = HttpApiEndpoint.get("getSilence", "/silences/:id", {
  params,
  success: contract.Silence,
  error: NotFound.wire,
})
  .middleware(IgnoredBody)
  .annotateMerge(operation.read("Show a silence", "Shows a silence."))

const createSilence = HttpApiEndpoint.post("createSilence", "/silences", {
  query: SilenceCreationParameters,
  payload: contract.SilenceRequest,
  success: [contract.Silence.pipe(HttpApiSchema.status(201)), contract.SilencePreview],
  error: [Conflict.wire, PayloadTooLarge.wire],
}).annotateMerge(
  operation.respond(
    "Create a silence, or preview one",
    "Creates a silence: while it is active, Tocsin sends no firing of the incidents that it covers and that has not been attempted yet. With dry_run=true it creates nothing, and reports what the silence would cover now. Answers 409 if the silence covers more than half of the accepted agents, and more than 10, and is not confirmed; and if 1,000 silences are scheduled or active.",
  ),
)

const changeSilence = HttpApiEndpoint.patch("changeSilence", "/silences/:id", {
  params,
  payload: contract.SilenceChangeRequest,
  success: contract.Silence,
  error: [NotFound.wire, Conflict.wire, PayloadTooLarge.wire],
}).annotateMerge(
  operation.respond(
    "Change the end or the comment of a silence",
    "Changes the end or the comment of a silence. Answers 409 if it has ended.",
  ),
)

const expireSilence = HttpApiEndpoint.delete("expireSilence", "/silences/:id", {
  params,
  success: ActionCountResponse,
})
  .middleware(IgnoredBody)
  .annotateMerge(
    operation.respond(
      "End a silence now",
      "Ends a silence. What it held is sent, if nothing else holds it. The count is 0 if it had ended or does not exist.",
    ),
  )

/** Silences. Those with a body read it themselves, for the contract's messages. */
export class SilencesApi extends HttpApiGroup.make("silences")
  .add(listSilences, getSilence, createSilence, changeSilence, expireSilence)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
