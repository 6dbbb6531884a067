import { Record } from "effect"
import { stateMetrics } from "../heart/health/stateMetrics.ts"
import { deliveryMetrics } from "../heart/notifications/deliveryMetrics.ts"
import { policyMetrics } from "../heart/policy/policyMetrics.ts"
import { requestMetrics } from "../heart/usecases/requestMetrics.ts"
import type { MetricTable } from "../kernel/engine/metrics/Instruments.ts"
import { storageMetrics } from "../kernel/engine/metrics/storageMetrics.ts"
import { features } from "./features.ts"

const ofHeart = {
  "Requests and ingestion": requestMetrics,
  Notifications: deliveryMetrics,
  Policy: policyMetrics,
  "State, read at each scrape": stateMetrics,
  Storage: storageMetrics,
}

/** Every metric of the core, in the order of the metrics page. Adapters define their own. */
export const metricTables: Readonly<Record<string, ReadonlyArray<MetricTable>>> = Record.map(
  ofHeart,
  (table, heading) => [
    table,
    ...features.flatMap((part) =>
      "metrics" in part && part.metrics[0] === heading ? [part.metrics[1]] : [],
    ),
  ],
)
