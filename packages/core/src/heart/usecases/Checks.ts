import { Context, Effect, Layer } from "effect"
import { checkOperations } from "./checkOperations.ts"
import { operationPorts } from "./operationPorts.ts"

/** What operators do with checks (docs/rules.md#events). */
export class Checks extends Context.Service<Checks>()("@tocsin/core/heart/usecases/Checks", {
  make: Effect.map(operationPorts, checkOperations),
}) {
  static readonly layer = Layer.effect(Checks, Checks.make)
}
