import type { NotifierName, Severity } from "@tocsin/contract/formats/Status"

/** The facts by which the message of a firing says why it comes (docs/rules.md#why-a-message-comes); empty if it only opens. */
export interface Reason {
  /** The severity that was announced before it got worse. */
  readonly was?: Severity
  /** Who is out of reach, so that its receiver stands beside them. */
  readonly beside?: ReadonlyArray<NotifierName>
  /** The rota by which its receiver came on call, at `since`. */
  readonly rota?: NotifierName
  /** Who acknowledged until now. */
  readonly by?: string
  /** Since when nobody acknowledged: when its steps began. Microseconds, as in the holds of its row. */
  readonly since?: number
  /** The beginnings of the later steps that were due by then, and when the last of them was: none of them pages again. */
  readonly paged?: { readonly begun: ReadonlyArray<number>; readonly until: number }
}
