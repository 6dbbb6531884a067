import type { CheckExplanation, IncidentDetail } from "@tocsin/client"
import type { ComponentChildren, FunctionComponent } from "preact"
import type { CheckName } from "./state/lists.ts"

/** A page by the first part of its address, and by the number of names after it. */
export type PageRow = readonly [place: string, page: FunctionComponent]

type Draws<Given> = (given: Given) => ComponentChildren

/** The part of a feature on the page of a check. */
interface CheckPart {
  /** An act that is shown with the others, to those who may respond. */
  readonly act?: Draws<CheckExplanation>
  /** Below the acts. Nothing is found before it was read. */
  readonly below?: Draws<CheckName & { readonly found: CheckExplanation | undefined }>
  /** Instead of the sentence that there is no such check; null where that counts. */
  readonly absent?: (name: CheckName) => ComponentChildren
}

/** The part of a feature on the page of an incident. */
interface IncidentPart {
  /** Among the reasons. */
  readonly reasons?: Draws<IncidentDetail>
  /** Below the checks. */
  readonly below?: Draws<IncidentDetail>
}

/** The parts that a feature declares in its `part.tsx` (CONTRIBUTING.md#a-new-feature). */
export interface Part {
  readonly pages?: ReadonlyArray<PageRow>
  readonly check?: CheckPart
  readonly incident?: IncidentPart
  /** Ways to begin, on the page of the first steps. */
  readonly ways?: ReadonlyArray<readonly [way: string, title: string, shown: FunctionComponent]>
}
