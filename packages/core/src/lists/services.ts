import { Layer } from "effect"
import { Availability } from "../heart/availability/readAvailability.ts"
import { HealthExamination } from "../heart/health/HealthExamination.ts"
import { Checks } from "../heart/usecases/Checks.ts"
import * as Delivery from "../heart/usecases/Delivery.ts"
import { Incidents } from "../heart/usecases/Incidents.ts"
import { Ingest } from "../heart/usecases/Ingest.ts"
import { Operators } from "../heart/usecases/Operators.ts"
import * as Replicas from "../heart/usecases/Replicas.ts"
import { TopicFeed } from "../heart/usecases/TopicFeed.ts"
import { Admission } from "./Admission.ts"
import { CheckMetrics } from "./CheckMetrics.ts"
import { ExplainedChecks } from "./ExplainedChecks.ts"
import { Exports } from "./Exports.ts"
import { features } from "./features.ts"
import * as Housekeeping from "./Housekeeping.ts"
import { Numbers } from "./Numbers.ts"
import { Policies } from "./Policies.ts"
import { policyFollower } from "./policyFollower.ts"
import { PolicyLines } from "./PolicyLines.ts"
import { Queries } from "./Queries.ts"
import { StoredSecrets } from "./StoredSecrets.ts"

/** Operators' actions beyond the contract: a service for each subject. */
export const operationServices = [
  Availability,
  Checks,
  ExplainedChecks,
  Incidents,
  ...features.flatMap((part) => ("operations" in part ? [part.operations] : [])),
]

/** The lists of services that also act. */
export const listingParts = features.flatMap((part) => ("lists" in part ? [part] : []))

/** All that operators read beside these. */
export const queryServices = [Queries, CheckMetrics, Exports, Numbers] as const

/** All that agents and operators ask and do. A command of `tocsin` loads the services that it uses instead. */
export const services = Layer.mergeAll(
  Admission.layer,
  HealthExamination.layer,
  Ingest.layer,
  Operators.layer,
  Layer.mergeAll(Policies.layer, StoredSecrets.layer).pipe(
    Layer.provideMerge(Replicas.ReplicaIdentity.layer),
  ),
  PolicyLines.layer,
  TopicFeed.layer,
  ...features.flatMap((part) => ("services" in part ? [part.services] : [])),
  ...[...operationServices, ...queryServices].map(({ layer }) => layer),
).pipe(
  Layer.provideMerge(
    Layer.mergeAll(Layer.empty, ...features.flatMap((part) => ("beneath" in part ? [part.beneath] : []))),
  ),
)

/** Of every process: what others changed is followed, and numbers are written. */
export const following = Layer.mergeAll(
  Replicas.layer,
  ...features.flatMap((part) => ("follows" in part ? [part.follows] : [])),
)

/** Of processes that send notifications. */
export const delivering = Layer.mergeAll(
  Delivery.layer,
  ...features.flatMap((part) => ("delivers" in part ? [part.delivers] : [])),
)

/** Delivery, liveness, retention, numbers, the report to other replicas, and probes; safe with several replicas. */
export const background = Layer.mergeAll(
  delivering,
  Housekeeping.layer,
  following,
  policyFollower,
  ...features.flatMap((part) => ("probes" in part ? [part.probes] : [])),
)
