// refused: import(no-cycle) Dependency cycle detected
import type { Right } from "./typeCycleRight.ts"

export type Left = ReadonlyArray<Right>
