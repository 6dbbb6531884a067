import type { Rota } from "../firings/Story.ts"

/** A person who takes a rota over, in seconds of the night. */
export interface Override {
  readonly rota: string
  readonly receivers: ReadonlyArray<string>
  from: number
  to: number
}

/** Who is on call in a rota, before anybody stands beside them. */
interface Base {
  readonly receivers: ReadonlyArray<string>
  /** The turns of `order` that stand beside who cannot be reached, the first one first. */
  readonly next: ReadonlyArray<ReadonlyArray<string>>
}

const DAY = 86_400

/** The rotas of a policy, whose zone is UTC, on a night that begins at an instant. */
export class Rotas {
  readonly #rotas: Readonly<Record<string, Rota>>
  #begins: number
  readonly overrides: Array<Override> = []

  constructor(rotas: Readonly<Record<string, Rota>>, begins: string) {
    this.#rotas = rotas
    this.#begins = Date.parse(begins) / 1_000
  }

  setBack(by: number): void {
    this.#begins -= by
  }

  get names(): ReadonlyArray<string> {
    return Object.keys(this.#rotas)
  }

  /** Each rota that no other one's `otherwise` names, and each receiver that no rota names. */
  everyReceiver(receivers: ReadonlyArray<string>): ReadonlyArray<string> {
    const rotas = Object.entries(this.#rotas)
    const otherwise = new Set(rotas.flatMap(([, { otherwise: named = [] }]) => named))
    const inRotas = new Set(
      rotas.flatMap(([, { order, otherwise: named = [] }]) => [...order.flat(), ...named]),
    )
    return [
      ...this.names.filter((name) => !otherwise.has(name)),
      ...receivers.filter((name) => !inRotas.has(name)),
    ]
  }

  /** Who has the turn, the override or the hours outside. */
  base(name: string, at: number): Base {
    const rota = this.#rotas[name]
    if (rota === undefined) return { receivers: [name], next: [] }
    const { order } = rota
    const turn = this.#turn(rota, at)
    const from = (first: number) =>
      Array.from(order, (_, place) => order[(first + place) % order.length] ?? [])
    const override = this.overrides.findLast((one) => one.rota === name && one.from <= at && at < one.to)
    if (override !== undefined) return { receivers: override.receivers, next: from(turn) }
    if (rota.hours !== undefined && !this.#isInHours(rota, at))
      return { receivers: rota.otherwise ?? [], next: from(turn) }
    return { receivers: order[turn] ?? [], next: from(turn + 1).slice(0, -1) }
  }

  /** When who is on call may change, until a second of the night. */
  changes(until: number): ReadonlyArray<number> {
    const found: Array<number> = []
    for (const { every, from, hours = [] } of Object.values(this.#rotas)) {
      const first = Date.parse(`${from}Z`) / 1_000 - this.#begins
      const skipped = Math.max(1, Math.ceil(-first / every))
      for (let at = first + skipped * every; at <= until; at += every) found.push(at)
      for (const span of hours)
        for (const edge of [span.from, span.to])
          for (let at = edge - (this.#begins % DAY) - DAY; at <= until; at += DAY) if (at > 0) found.push(at)
    }
    return found
  }

  #turn({ every, from, order }: Rota, at: number): number {
    const since = this.#begins + at - Date.parse(`${from}Z`) / 1_000
    return since < 0 ? 0 : Math.floor(since / every) % order.length
  }

  #isInHours({ hours = [] }: Rota, at: number): boolean {
    const second = (this.#begins + at) % DAY
    return hours.some(({ from, to }) =>
      from < to ? from <= second && second < to : second >= from || second < to,
    )
  }
}
