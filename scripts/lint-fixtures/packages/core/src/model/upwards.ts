// refused: tocsin(one-direction) model comes before incidents
import type { Incidents } from "../incidents/Incidents.ts"

export type Refused = Incidents
