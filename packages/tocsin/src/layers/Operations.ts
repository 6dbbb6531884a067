import { listingParts, operationServices, queryServices } from "@tocsin/core/lists/services"
import { Context, Effect, Layer } from "effect"

type Together<Part> = (Part extends unknown ? (part: Part) => void : never) extends (all: infer All) => void
  ? All
  : never

/** Services of several subjects as one. */
const together = <Parts extends ReadonlyArray<object>>(parts: Parts) =>
  // Their members have different names, but for those that are the same.
  Object.assign({}, ...parts) as Together<Parts[number]>

/** Operators' actions beyond the contract (/ops/v1, docs/rules.md#events, docs/rules.md#outbox). */
export class Operations extends Context.Service<Operations>()("tocsin/layers/Operations", {
  make: Effect.map(Effect.all(operationServices), together),
}) {
  static readonly layer = Layer.effect(Operations, Operations.make).pipe(
    Layer.provide(Layer.mergeAll(Layer.empty, ...operationServices.map(({ layer }) => layer))),
  )
}

/** Operators' reads (docs/rules.md#lists). */
export class Queries extends Context.Service<Queries>()("tocsin/layers/Queries", {
  make: Effect.map(Effect.all([...queryServices, ...listingParts.map(({ lists }) => lists)]), together),
}) {
  static readonly layer = Layer.effect(Queries, Queries.make).pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.empty,
        ...[...queryServices, ...listingParts.map(({ operations }) => operations)].map(({ layer }) => layer),
      ),
    ),
  )
}
