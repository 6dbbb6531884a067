// refused: tocsin(one-direction) kernel/model comes before heart/incidents
import type { Incidents } from "../../heart/incidents/Incidents.ts"

export type Refused = Incidents
