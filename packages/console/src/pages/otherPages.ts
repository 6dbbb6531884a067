import type { FunctionComponent } from "preact"
import { features } from "../features.ts"
import { Admission } from "./Admission.tsx"
import { AgentPage } from "./AgentPage.tsx"
import { Agents } from "./Agents.tsx"
import { Audit } from "./Audit.tsx"
import { CheckPage } from "./CheckPage.tsx"
import { Checks } from "./Checks.tsx"
import { IncidentPage } from "./IncidentPage.tsx"
import { Operators } from "./Operators.tsx"
import { Outbox } from "./Outbox.tsx"
import { StartPage } from "./Start.tsx"
import { System } from "./System.tsx"
import { Wall } from "./Wall.tsx"

export { arrangedIncidents } from "./arrangedIncidents.ts"
export { saveRows } from "../view/saveRows.ts"

/** Each page but the first ones by its name, and by the number of names after it in its address. */
export const PAGES: ReadonlyMap<string, FunctionComponent> = new Map<string, FunctionComponent>([
  ["incidents 1", IncidentPage],
  ["agents 0", Agents],
  ["agents 1", AgentPage],
  ["admission 0", Admission],
  ["checks 0", Checks],
  ["checks 2", CheckPage],
  ["outbox 0", Outbox],
  ["audit 0", Audit],
  ["wall 0", Wall],
  ["operators 0", Operators],
  ["start 0", StartPage],
  ["system 0", System],
  ...features.flatMap(({ pages = [] }) => pages),
])
