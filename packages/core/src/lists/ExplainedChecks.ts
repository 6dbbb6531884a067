import { Context, Effect, Layer } from "effect"
import { logReasons } from "../features/integrations/onlyLogs.ts"
import { explainOperations } from "../heart/usecases/explainCheck.ts"
import { type OperationPorts, operationPorts } from "../heart/usecases/operationPorts.ts"
import { pauseReasons } from "../features/watches/pauseReasons.ts"
import type { CheckRef } from "../kernel/model/CheckRef.ts"

const reasonsOf = (ports: OperationPorts) => (ref: CheckRef, hasReported: boolean) =>
  (hasReported ? pauseReasons : logReasons)(ports)(ref)

/** Checks in sentences, with those of integrations and watches about checks of theirs. */
export class ExplainedChecks extends Context.Service<ExplainedChecks>()(
  "@tocsin/core/lists/ExplainedChecks",
  { make: Effect.map(operationPorts, (ports) => explainOperations(ports, reasonsOf(ports))) },
) {
  static readonly layer = Layer.effect(ExplainedChecks, ExplainedChecks.make)
}
