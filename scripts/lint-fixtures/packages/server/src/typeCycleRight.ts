// refused: import(no-cycle) Dependency cycle detected
import type { Left } from "./typeCycleLeft.ts"

export type Right = ReadonlyMap<string, Left>
