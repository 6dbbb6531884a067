import { Context, Effect, Layer } from "effect"
import { logReasons } from "../features/integrations/onlyLogs.ts"
import { explainOperations } from "../heart/usecases/explainCheck.ts"
import { operationPorts } from "../heart/usecases/operationPorts.ts"

/** Checks in sentences, with those of integrations about checks of theirs. */
export class ExplainedChecks extends Context.Service<ExplainedChecks>()(
  "@tocsin/core/lists/ExplainedChecks",
  { make: Effect.map(operationPorts, (ports) => explainOperations(ports, logReasons(ports))) },
) {
  static readonly layer = Layer.effect(ExplainedChecks, ExplainedChecks.make)
}
