import { Context, Effect, Layer } from "effect"
import { checkOperations } from "./checkOperations.ts"
import { operationPorts } from "./operationPorts.ts"

/** Operators' actions on checks (docs/rules.md#events). */
export class Checks extends Context.Service<Checks>()("@tocsin/core/heart/usecases/Checks", {
  make: Effect.map(operationPorts, checkOperations),
}) {
  static readonly layer = Layer.effect(Checks, Checks.make)
}
