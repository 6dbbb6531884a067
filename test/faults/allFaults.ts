import type { Fault } from "./Fault.ts"
import { processFaults } from "./process.ts"

/** Faults of one kind, as a section of the page. */
export interface FaultKind {
  readonly title: string
  readonly faults: ReadonlyArray<Fault>
}

/** Every fault, in the order of the page. */
export const allFaults: ReadonlyArray<FaultKind> = [{ title: "The process", faults: processFaults }]
