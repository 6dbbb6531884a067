import { Context, Effect, Layer } from "effect"
import { availabilityOperations } from "../heart/availability/readAvailability.ts"
import { downloadOperations } from "../features/enrolment/downloadOperations.ts"
import { logReasons } from "../features/integrations/onlyLogs.ts"
import { resolveOperations } from "../features/integrations/resolveCheck.ts"
import { linkOperations } from "../features/links/linkOperations.ts"
import { onCallOperations } from "../features/onCall/onCallOperations.ts"
import { announcing } from "../features/publicPages/announcing.ts"
import { testOperations } from "../features/receivers/testOperations.ts"
import { reportOperations } from "../features/report/readReport.ts"
import { settingOperations } from "../features/settings/settingOperations.ts"
import { silenceOperations } from "../features/silences/silenceOperations.ts"
import { acknowledging } from "../heart/usecases/acknowledging.ts"
import { checkOperations } from "../heart/usecases/checkOperations.ts"
import { explainOperations } from "../heart/usecases/explainCheck.ts"
import { heldLists } from "../heart/usecases/heldLists.ts"
import { operationPorts } from "../heart/usecases/operationPorts.ts"
import { outboxOperations } from "../heart/usecases/outboxOperations.ts"

/** Operators' actions beyond the contract (/ops/v1, docs/rules.md#events, docs/rules.md#outbox). */
export class Operations extends Context.Service<Operations>()("@tocsin/core/lists/Operations", {
  make: Effect.gen(function* () {
    const ports = yield* operationPorts
    return {
      ...heldLists(ports),
      ...acknowledging(ports),
      ...checkOperations(ports),
      ...explainOperations(ports, logReasons(ports)),
      ...outboxOperations(ports),
      ...announcing(ports),
      ...availabilityOperations(ports),
      ...(yield* downloadOperations),
      ...(yield* linkOperations),
      ...(yield* onCallOperations(ports.signed)),
      ...reportOperations(ports),
      ...resolveOperations(ports),
      ...(yield* settingOperations(ports)),
      ...silenceOperations(ports),
      ...testOperations(ports),
    }
  }),
}) {
  static readonly layer = Layer.effect(Operations, Operations.make)
}
