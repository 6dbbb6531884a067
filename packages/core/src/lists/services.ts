import { Layer } from "effect"
import { AgentDownloads } from "../features/enrolment/AgentDownloads.ts"
import { Integrations } from "../features/integrations/Integrations.ts"
import { ResolvedChecks } from "../features/integrations/resolveCheck.ts"
import { Links } from "../features/links/Links.ts"
import { NumberMemory } from "../features/numbers/NumberMemory.ts"
import { recordNumbers } from "../features/numbers/recordNumbers.ts"
import { OnCall } from "../features/onCall/OnCall.ts"
import { Announcements } from "../features/publicPages/Announcements.ts"
import { PublicPages } from "../features/publicPages/PublicPages.ts"
import { ReceiverTests } from "../features/receivers/ReceiverTests.ts"
import { monthlyReports } from "../features/report/monthlyReports.ts"
import { Reports } from "../features/report/readReport.ts"
import { settingsFollower } from "../features/settings/settingsFollower.ts"
import { SharedSettings } from "../features/settings/SharedSettings.ts"
import { Sessions } from "../features/signIn/Sessions.ts"
import { Silences } from "../features/silences/Silences.ts"
import { placeFollowing, Watches } from "../features/watches/Watches.ts"
import * as WatchRunner from "../features/watches/WatchRunner.ts"
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
import * as Housekeeping from "./Housekeeping.ts"
import { Numbers } from "./Numbers.ts"
import { Policies } from "./Policies.ts"
import { policyFollower } from "./policyFollower.ts"
import { Queries } from "./Queries.ts"

/** Operators' actions beyond the contract: a service for each subject. */
export const operationServices = [
  AgentDownloads,
  Announcements,
  Availability,
  Checks,
  ExplainedChecks,
  Incidents,
  Links,
  OnCall,
  ReceiverTests,
  Reports,
  ResolvedChecks,
  SharedSettings,
  Silences,
] as const

/** All that operators read, but for the lists of services that also act. */
export const queryServices = [Queries, CheckMetrics, Exports, Numbers] as const

/** All that agents and operators ask and do. A command of `tocsin` loads the services that it uses instead. */
export const services = Layer.mergeAll(
  Admission.layer,
  HealthExamination.layer,
  Ingest.layer.pipe(Layer.provide(placeFollowing)),
  Integrations.layer,
  Operators.layer,
  Policies.layer.pipe(Layer.provideMerge(Replicas.ReplicaIdentity.layer)),
  PublicPages.layer,
  Sessions.layer,
  TopicFeed.layer,
  Watches.layer,
  ...[...operationServices, ...queryServices].map(({ layer }) => layer),
).pipe(Layer.provideMerge(NumberMemory.layer))

/** Delivery, liveness, retention, numbers, the report to other replicas, and probes; safe with several replicas. */
export const background = Layer.mergeAll(
  Delivery.layer,
  monthlyReports,
  Housekeeping.layer,
  recordNumbers,
  Replicas.layer,
  WatchRunner.layer,
  policyFollower,
  settingsFollower,
)
