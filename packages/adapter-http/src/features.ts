import { operators } from "./documents/accessOperations.ts"
import type { Tag } from "./documents/examples.ts"
import { agents, checks, incidents, liveViews, notifications } from "./documents/incidentOperations.ts"
import { policy } from "./documents/policyOperations.ts"
import { enrolment } from "./features/enrolment/part.ts"
import { exporting } from "./features/export/part.ts"
import { integrations } from "./features/integrations/part.ts"
import * as LinkRoutes from "./features/links/LinkRoutes.ts"
import { numbers } from "./features/numbers/part.ts"
import { onCall } from "./features/onCall/part.ts"
import { overdue } from "./features/overdue/part.ts"
import * as CallRoutes from "./features/phones/CallRoutes.ts"
import { publicPages } from "./features/publicPages/part.ts"
import { push } from "./features/push/part.ts"
import { receivers } from "./features/receivers/part.ts"
import { report } from "./features/report/part.ts"
import { settings } from "./features/settings/part.ts"
import { signIn } from "./features/signIn/part.ts"
import { silences } from "./features/silences/part.ts"
import { watches } from "./features/watches/part.ts"
import { policyUseCases } from "./handlers/policyUseCases.ts"
import { stream } from "./handlers/StreamHandlers.ts"
import { incidentUseCases, operationUseCases, operatorUseCases } from "./handlers/useCases.ts"
import type { HttpPart } from "./HttpPart.ts"

/** The features of the API, among the subjects of the heart, in the order of the tags of /ops/v1/openapi.json. */
const features = [
  {
    tags: [
      ["Notifications", "Dead letters and tests.", notifications],
      ["Agents", "Find agents.", agents],
      ["Checks", "Find, release, delete and explain checks.", checks],
    ],
    useCases: { group: "operations", make: operationUseCases },
  },
  numbers,
  report,
  exporting,
  {
    tags: [["Incidents", "Incidents in full.", incidents]],
    useCases: incidentUseCases,
  },
  overdue,
  silences,
  publicPages,
  onCall,
  {
    tags: [["Policy", "Receivers, routes and maintenance windows.", policy]],
    useCases: { group: "policy", make: policyUseCases },
  },
  receivers,
  settings,
  push,
  {
    tags: [["Operators", "Named operators, their tokens, and who changed what.", operators]],
    useCases: operatorUseCases,
  },
  signIn,
  watches,
  enrolment,
  integrations,
  { tags: [["Live views", "Topics to fetch again.", liveViews]], handlers: stream },
  { beside: { routes: LinkRoutes.routes, layer: LinkRoutes.layer } },
  { beside: { routes: CallRoutes.routes, layer: CallRoutes.layer } },
] as const satisfies ReadonlyArray<HttpPart>

/** The tags of /ops/v1/openapi.json. */
export const opsTags = features.flatMap<Tag>((part) => ("tags" in part ? part.tags : []))

/** The use cases of each operators' group of /ops/v1. */
export const opsUseCases = features.flatMap((part) => ("useCases" in part ? [part.useCases] : []))

/** Answers the endpoints of /ops/v1 that are more than a use case. */
export const handlers = features.flatMap((part) => ("handlers" in part ? [part.handlers] : []))

/** The routes that are not in the definition of the API. */
export const beside = features.flatMap((part) => ("beside" in part ? [part.beside] : []))
