import * as contract from "../Acknowledgements.ts"
import { ActionCountResponse } from "../Responses.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Conflict, NotFound, PayloadTooLarge } from "./ApiErrors.ts"
import { IncidentPath } from "./opsResources.ts"
import { IgnoredBody, operationsOf, OperatorAuthentication, ValidParameters } from "./operation.ts"

const operation = operationsOf("Incidents")

const params = IncidentPath
const error = [NotFound.wire, PayloadTooLarge.wire] as const

const acknowledge = HttpApiEndpoint.put("acknowledge", "/incidents/:id/acknowledgement", {
  params,
  payload: contract.AcknowledgeRequest,
  success: contract.Acknowledgement,
  error: [...error, Conflict.wire],
}).annotateMerge(
  operation.respond(
    "Acknowledge an incident",
    "Acknowledges an open incident, or replaces its acknowledgement. Until it ends, Tocsin sends no firing of the incident that has not been attempted yet. An incident that becomes worse than acknowledged notifies everyone again. Answers 409 if the incident has resolved, or has another severity than the request names.",
  ),
)

const withdraw = HttpApiEndpoint.delete("withdrawAcknowledgement", "/incidents/:id/acknowledgement", {
  params,
  success: ActionCountResponse,
  error: NotFound.wire,
})
  .middleware(IgnoredBody)
  .annotateMerge(
    operation.respond(
      "Withdraw the acknowledgement of an incident",
      "Withdraws the acknowledgement of an incident. What it held is sent. Without one the count is 0.",
    ),
  )

const acknowledgeAll = HttpApiEndpoint.post("acknowledgeAll", "/incidents/acknowledge", {
  payload: contract.AcknowledgeAllRequest,
  success: contract.AcknowledgedAll,
  error: PayloadTooLarge.wire,
}).annotateMerge(
  operation.respond(
    "Acknowledge several incidents",
    "Acknowledges up to 200 incidents, each on its own, and says what became of each.",
  ),
)

const note = HttpApiEndpoint.post("noteIncident", "/incidents/:id/notes", {
  params,
  payload: contract.NoteRequest,
  success: contract.IncidentLogEntry.pipe(HttpApiSchema.status(201)),
  error,
}).annotateMerge(
  operation.respond(
    "Add a note to an incident",
    "Adds a note to the timeline of an incident, open or resolved.",
  ),
)

/** Operators' actions on incidents. These operations read bodies. */
export class IncidentActionsApi extends HttpApiGroup.make("incidentActions")
  .add(acknowledge, withdraw, acknowledgeAll, note)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
