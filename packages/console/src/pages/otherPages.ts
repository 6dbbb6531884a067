import type { FunctionComponent } from "preact"
import { Admission } from "./Admission.tsx"
import { AgentPage } from "./AgentPage.tsx"
import { Agents } from "./Agents.tsx"
import { Audit } from "./Audit.tsx"
import { CheckPage } from "./CheckPage.tsx"
import { Checks } from "./Checks.tsx"
import { IncidentPage } from "./IncidentPage.tsx"
import { Integrations } from "../features/integrations/Integrations.tsx"
import { OnCall } from "../features/onCall/OnCall.tsx"
import { Operators } from "./Operators.tsx"
import { Outbox } from "./Outbox.tsx"
import { Silences } from "../features/silences/Silences.tsx"
import { StartPage } from "./Start.tsx"
import { System } from "./System.tsx"
import { Wall } from "./Wall.tsx"
import { Watches } from "../features/watches/Watches.tsx"

export { arrangedIncidents } from "./arrangedIncidents.ts"

/** Each page but the first ones by its name, and by the number of names after it in its address. */
export const PAGES: ReadonlyMap<string, FunctionComponent> = new Map([
  ["incidents 1", IncidentPage],
  ["agents 0", Agents],
  ["agents 1", AgentPage],
  ["admission 0", Admission],
  ["checks 0", Checks],
  ["checks 2", CheckPage],
  ["silences 0", Silences],
  ["on-call 0", OnCall],
  ["outbox 0", Outbox],
  ["audit 0", Audit],
  ["wall 0", Wall],
  ["watches 0", Watches],
  ["integrations 0", Integrations],
  ["operators 0", Operators],
  ["start 0", StartPage],
  ["system 0", System],
])
