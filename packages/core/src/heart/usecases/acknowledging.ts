import { Effect } from "effect"
import { acknowledgedUntil, acknowledge, note, withdraw } from "../acknowledgements/acknowledge.ts"
import type {
  AcknowledgeAllRequest,
  AcknowledgeRequest,
  NoteRequest,
} from "@tocsin/contract/acknowledgements/Acknowledgements"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { OperationPorts } from "./operationPorts.ts"
import { noSuch, StateConflict } from "../../kernel/engine/OperationErrors.ts"

const resolved = () =>
  new StateConflict({ message: "the incident has resolved, so it cannot be acknowledged" })

/** Operators' actions on incidents (docs/rules.md#acknowledgements). */
export const acknowledging = ({ rules, signed }: Pick<OperationPorts, "rules" | "signed">) => {
  const one = Effect.fnUntraced(function* (id: IncidentId, request: AcknowledgeRequest) {
    const until = yield* Effect.mapError(
      Effect.fromResult(acknowledgedUntil(request, rules, yield* Instant.now)),
      (message) => new ValidationError({ message }),
    )
    const { note: text, severity } = request
    const result = yield* signed((by) => acknowledge({ id, note: text, until, severity }, by))
    if (result.outcome === "over")
      return yield* new ValidationError({ message: "until must be in the future" })
    if (result.outcome !== "another_severity") return result
    return yield* new StateConflict({
      message: `the incident's severity is now ${result.severity}; look at it again before you acknowledge it`,
    })
  })
  return {
    acknowledge: Effect.fn("Operations.acknowledge")(function* (id: IncidentId, request: AcknowledgeRequest) {
      const result = yield* one(id, request)
      if (result.outcome === "acknowledged") return result.acknowledgement
      return yield* result.outcome === "unknown" ? noSuch("incident") : resolved()
    }),
    acknowledgeAll: Effect.fn("Operations.acknowledgeAll")(function* ({
      ids,
      ...request
    }: AcknowledgeAllRequest) {
      const items = yield* Effect.forEach(new Set(ids), (id) =>
        one(id, request).pipe(
          Effect.map(({ outcome }) => ({ id, outcome })),
          // These requests name no severity, so none can be another one.
          Effect.catchTag("StateConflict", Effect.die),
        ),
      )
      return { items }
    }),
    withdraw: Effect.fn("Operations.withdraw")(function* (id: IncidentId) {
      const count = yield* signed((by) => withdraw(id, by))
      return count === undefined ? yield* noSuch("incident") : { count }
    }),
    note: Effect.fn("Operations.note")(function* (id: IncidentId, { text }: NoteRequest) {
      const noted = yield* signed((by) => note(id, text, by))
      return noted ?? (yield* noSuch("incident"))
    }),
  }
}
