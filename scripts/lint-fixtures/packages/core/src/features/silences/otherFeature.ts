// refused: tocsin(one-direction) features/silences and features/watches are apart
import type { Watches } from "../watches/Watches.ts"

export type Refused = Watches
