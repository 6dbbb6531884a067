// refused: import(no-cycle) Dependency cycle detected
import { left } from "./cycleLeft.ts"

export const right = (): unknown => left
