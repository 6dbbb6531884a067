import { Context, Effect, Layer } from "effect"
import { heldLists } from "./heldLists.ts"
import { operationPorts, type OperationPorts } from "./operationPorts.ts"
import { acknowledgedUntil, acknowledge, note, withdraw } from "../acknowledgements/acknowledge.ts"
import type {
  AcknowledgeAllRequest,
  AcknowledgeRequest,
  NoteRequest,
} from "@tocsin/contract/acknowledgements/Acknowledgements"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import type { IncidentId, OutboxId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { noSuch, NotFound, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { release, type ReleaseOutcome, replay, type ReplayOutcome } from "../notifications/release.ts"

const REPLAY_REFUSED: Record<Exclude<ReplayOutcome, "replayed">, NotFound | StateConflict> = {
  no_such_item: new NotFound({
    message: "no outbox item has this id; list failed items with GET /api/v1/notifiers/outbox?state=failed",
  }),
  not_failed: new StateConflict({
    message:
      "this outbox item has not failed, so it cannot be replayed; list failed items with GET /api/v1/notifiers/outbox?state=failed",
  }),
  firing_of_resolved: new StateConflict({
    message: "the incident of this firing has resolved, so Tocsin no longer sends the firing",
  }),
  incident_expired: new StateConflict({
    message:
      "the incident of this outbox item was deleted at the end of its retention, so there is nothing to send",
  }),
}

const RELEASE_REFUSED: Record<Exclude<ReleaseOutcome, "released">, NotFound | StateConflict> = {
  no_such_item: new NotFound({
    message: "no outbox item has this id; list held items with GET /ops/v1/outbox?held=true",
  }),
  not_held: new StateConflict({
    message: "nothing holds this outbox item; list held items with GET /ops/v1/outbox?held=true",
  }),
}

/** Operators' actions on the outbox (docs/rules.md#outbox). */
const outboxOperations = ({ options, signed }: Pick<OperationPorts, "options" | "signed">) => ({
  replay: Effect.fn("Operations.replay")(function* (id: OutboxId) {
    const outcome = yield* signed((by) => replay(id, by))
    return outcome === "replayed" ? { count: 1 } : yield* REPLAY_REFUSED[outcome]
  }),
  release: Effect.fn("Operations.release")(function* (id: OutboxId) {
    const outcome = yield* signed((by) => release(id, options, by))
    return outcome === "released" ? { count: 1 } : yield* RELEASE_REFUSED[outcome]
  }),
})

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

/** Operators' actions on incidents and their notifications (docs/rules.md#acknowledgements, docs/rules.md#outbox). */
export class Incidents extends Context.Service<Incidents>()("@tocsin/core/heart/usecases/Incidents", {
  make: Effect.map(operationPorts, (ports) => ({
    ...heldLists(ports),
    ...acknowledging(ports),
    ...outboxOperations(ports),
  })),
}) {
  static readonly layer = Layer.effect(Incidents, Incidents.make)
}
