import { Context, Effect, Layer } from "effect"
import { acknowledging } from "./acknowledging.ts"
import { heldLists } from "./heldLists.ts"
import { operationPorts } from "./operationPorts.ts"
import { outboxOperations } from "./outboxOperations.ts"

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
