import { integrationsMetrics } from "../features/integrations/integrationsMetrics.ts"
import { numbersMetrics } from "../features/numbers/numbersMetrics.ts"
import { pushMetrics } from "../features/push/pushMetrics.ts"
import { signInMetrics } from "../features/signIn/signInMetrics.ts"
import { watchesMetrics } from "../features/watches/watchesMetrics.ts"
import { stateMetrics } from "../heart/health/stateMetrics.ts"
import { deliveryMetrics } from "../heart/notifications/deliveryMetrics.ts"
import { policyMetrics } from "../heart/policy/policyMetrics.ts"
import { requestMetrics } from "../heart/usecases/requestMetrics.ts"
import type { MetricTable } from "../kernel/engine/metrics/Instruments.ts"
import { storageMetrics } from "../kernel/engine/metrics/storageMetrics.ts"

/** Every metric of the core, in the order of the metrics page. Adapters define their own. */
export const metricTables: Readonly<Record<string, ReadonlyArray<MetricTable>>> = {
  "Requests and ingestion": [
    requestMetrics,
    signInMetrics,
    integrationsMetrics,
    numbersMetrics,
    watchesMetrics,
  ],
  Notifications: [deliveryMetrics, pushMetrics],
  Policy: [policyMetrics],
  "State, read at each scrape": [stateMetrics],
  Storage: [storageMetrics],
}
