import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { CheckStatus } from "@tocsin/contract/formats/Status"

interface ModelPlace {
  at: number
  last: CheckStatus
  counted: CheckStatus | undefined
  run: number
}

const SEVERE: ReadonlyArray<CheckStatus> = ["ok", "warning", "unknown", "critical"]
const LASTING = 150

/** The rules of `fails: any` and `majority`, from seconds and statuses, with `confirm: { bad: 2, good: 1 }`. */
export class PlaceModel {
  readonly #places = new Map<AgentId, ModelPlace>()
  readonly #majority: boolean
  status: CheckStatus | undefined

  constructor(fails: "any" | "majority") {
    this.#majority = fails === "majority"
  }

  result(now: number, place: AgentId, status: CheckStatus, ago: number): void {
    const at = Math.min(now, now - ago)
    const before = this.#places.get(place)
    if (before !== undefined && at < before.at) return
    if (now - at > LASTING) return
    const isBad = status !== "ok"
    const isIll = before?.counted !== undefined && before.counted !== "ok"
    const run = isBad ? (before?.run ?? 0) + 1 : 0
    const counted = !isBad || isIll || run >= 2 ? status : before?.counted
    this.#places.set(place, { at, last: status, counted, run })
    this.#decide(now)
  }

  #decide(now: number): void {
    const counting = [...this.#places.values()].flatMap(({ at, counted, last }) =>
      counted === undefined || last === "unknown" || now - at > LASTING ? [] : [counted],
    )
    const n = now <= LASTING ? 2 : counting.length
    const wanted = this.#majority ? Math.floor(n / 2) + 1 : 1
    if (counting.length === 0 || counting.length < wanted) return
    const having = (level: CheckStatus) =>
      counting.filter((one) => SEVERE.indexOf(one) >= SEVERE.indexOf(level)).length >= wanted
    this.status = having("critical") ? "critical" : having("warning") ? "warning" : "ok"
  }
}
