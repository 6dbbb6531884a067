import { AgentDownloads } from "../features/enrolment/AgentDownloads.ts"
import { integrations } from "../features/integrations/part.ts"
import { Links } from "../features/links/Links.ts"
import { numbers } from "../features/numbers/part.ts"
import { OnCall } from "../features/onCall/OnCall.ts"
import { publicPages } from "../features/publicPages/part.ts"
import { pushMetrics } from "../features/push/pushMetrics.ts"
import { ReceiverTests } from "../features/receivers/ReceiverTests.ts"
import { report } from "../features/report/part.ts"
import { settings } from "../features/settings/part.ts"
import { signIn } from "../features/signIn/part.ts"
import { silences } from "../features/silences/part.ts"
import { PolicyTrials } from "../features/trial/PolicyTrials.ts"
import { watches } from "../features/watches/part.ts"
import type { CorePart } from "./CorePart.ts"

/**
 * The features of the core, in the order of their metrics: all services, background work and metrics derive from it. One
 * with more than a service or a table of metrics declares its part.
 */
export const features = [
  signIn,
  integrations,
  numbers,
  watches,
  { metrics: ["Notifications", pushMetrics] as const },
  { operations: AgentDownloads },
  { operations: Links },
  { operations: OnCall },
  publicPages,
  { operations: ReceiverTests },
  report,
  settings,
  silences,
  { services: PolicyTrials.layer },
] satisfies ReadonlyArray<CorePart>
