// refused: import(no-cycle) Dependency cycle detected
import { right } from "./cycleRight.ts"

export const left = (): unknown => right
