import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { CheckStatus } from "@tocsin/contract/formats/Status"

interface ModelPlace {
  at: number
  last: CheckStatus
  counted: CheckStatus | undefined
  /** How many results in a row were ok, or were not. */
  run: number
}

export interface ModelTerms {
  readonly from: number
  readonly fails: number | "all" | "any" | "majority"
  readonly confirm: { readonly bad: number; readonly good: number }
}

const SEVERE: ReadonlyArray<CheckStatus> = ["ok", "warning", "unknown", "critical"]
/** Two periods and 30 s. */
const LASTING = 150

/** The rules of places in words of the page, over seconds since the watch was created (docs/rules.md#places). */
export class PlaceModel {
  readonly #places = new Map<AgentId, ModelPlace>()
  readonly #terms: ModelTerms
  status: CheckStatus | undefined

  constructor(terms: ModelTerms) {
    this.#terms = terms
  }

  /** A result that an agent observed a while ago, or ahead. */
  result(now: number, place: AgentId, status: CheckStatus, ago: number): void {
    const at = Math.min(now, now - ago)
    const last = this.#places.get(place)?.at ?? at
    if (at < last || now - at > LASTING) return
    this.probe(now, place, status, at)
  }

  /** A result in order, as each one of the service itself is. */
  probe(now: number, place: AgentId, status: CheckStatus, at = now): void {
    const { confirm } = this.#terms
    const before = this.#places.get(place)
    const isAlike = before !== undefined && (before.last === "ok") === (status === "ok")
    const run = isAlike ? before.run + 1 : 1
    const known = before?.counted
    const isSame = known !== undefined && (known === "ok") === (status === "ok")
    const counted = isSame || run >= (status === "ok" ? confirm.good : confirm.bad) ? status : known
    this.#places.set(place, { at, last: status, counted, run })
    this.#decide(now)
  }

  #decide(now: number): void {
    const { fails, from } = this.#terms
    const counting = [...this.#places.values()].flatMap(({ at, counted, last }) =>
      counted === undefined || last === "unknown" || now - at > LASTING ? [] : [counted],
    )
    const n = now <= LASTING ? from : counting.length
    const wanted = { majority: Math.floor(n / 2) + 1, any: 1, all: n }[fails] ?? Number(fails)
    if (counting.length === 0 || counting.length < wanted) return
    const having = (level: CheckStatus) =>
      counting.filter((one) => SEVERE.indexOf(one) >= SEVERE.indexOf(level)).length >= wanted
    this.status = having("critical") ? "critical" : having("warning") ? "warning" : "ok"
  }
}
