import type { Rotas } from "./Rotas.ts"
import type { Row, Rows } from "./Row.ts"

/** For how long a firing is in retry until the next turn stands beside its receiver. */
export const OUT_OF_REACH = 300

/** How a receiver came on call. */
interface Coming {
  at: number
  /** Whether it is owed a handover, unless it has had a firing since. */
  readonly isHandover: boolean
  /** Whether the text leaves open that another one was notified through the rota. */
  readonly isOpen: boolean
  /** Whether the incident named the rota, and the receiver through no other one. */
  readonly isNamed: boolean
  isGiven: boolean
}

/** A receiver that is on call in a rota. */
interface Came {
  readonly rota: string
  readonly receiver: string
  readonly coming: Coming
}

/** Who is on call for an incident, and who came when. */
export class OnCall {
  /** In each rota, the receivers, and whether they stand beside others. */
  #people = new Map<string, ReadonlyMap<string, boolean>>()
  readonly #coming = new Map<string, Came>()
  readonly #rotas: Rotas
  readonly #rows: Rows
  /** Who was out of reach, and whose last attempts have not succeeded since. */
  readonly #outOfReach = new Set<string>()

  constructor(rotas: Rotas, rows: Rows, at: number) {
    this.#rotas = rotas
    this.#rows = rows
    this.#people = this.#find(at)
  }

  /** Who is on call, or nothing where a name is not a rota's. */
  of(name: string): ReadonlyArray<string> | undefined {
    const people = this.#people.get(name)
    return people && Array.from(people.keys())
  }

  /** Looks who is on call. `namedRotas` says which rotas the incident names with them. */
  look(at: number, namedRotas: () => ReadonlySet<string>): void {
    const before = this.#people
    for (const receiver of new Set(this.#rows.all.map((row) => row.receiver))) this.#reach(receiver, at)
    this.#people = this.#find(at)
    const named = namedRotas()
    for (const [rota, now] of this.#people) {
      const then = before.get(rota)
      for (const receiver of now.keys()) {
        if (then?.has(receiver)) continue
        const wasElsewhere = Array.from(named).some((other) => before.get(other)?.has(receiver))
        const isNamed = named.has(rota) && !wasElsewhere
        const tried = this.#rows.all.filter(
          (row) => row.receiver !== receiver && row.firstAttempt !== undefined,
        )
        const wasNotified = tried.some(({ rotas }) => rotas.has(rota))
        const coming = {
          at,
          isHandover: isNamed && (wasNotified || tried.some(({ earlierRotas }) => earlierRotas.has(rota))),
          isOpen: !wasNotified,
          isNamed,
          isGiven: false,
        }
        this.#coming.set(`${rota} ${receiver}`, { rota, receiver, coming })
      }
      for (const receiver of then?.keys() ?? [])
        if (!now.has(receiver)) this.#coming.delete(`${rota} ${receiver}`)
    }
  }

  /** Moments of the past count as moved. */
  setBack(moved: (at: number) => number): void {
    for (const { coming } of this.#coming.values()) coming.at = moved(coming.at)
  }

  /** Those who came on call and are still, of one receiver or all. */
  came(receiver?: string): ReadonlyArray<Came> {
    const all = Array.from(this.#coming.values())
    return receiver === undefined ? all : all.filter((one) => one.receiver === receiver)
  }

  isHandover({ coming: { at, isHandover }, receiver }: Came): boolean {
    const rows = this.#rows.firings(receiver)
    return (
      isHandover &&
      !rows.some(({ lastAttempt = -Infinity, lastEnd = -Infinity }) => Math.max(lastAttempt, lastEnd) >= at)
    )
  }

  /** Whether a receiver came beside another in one of these rotas, and has had no firing since. */
  isBeside(receiver: string, rotas: ReadonlySet<string>): boolean {
    return Array.from(this.#people).some(([rota, people]) => {
      if (!rotas.has(rota)) return false
      const since = this.#coming.get(`${rota} ${receiver}`)?.coming.at ?? -Infinity
      const isFirst = !this.#rows
        .firings(receiver)
        .some(({ freedAt }) => freedAt >= since && freedAt < Infinity)
      return people.get(receiver) === true && isFirst
    })
  }

  /** Whether a receiver has the turn, or an override, in one of these rotas. */
  hasTurn(receiver: string, rotas: ReadonlySet<string>): boolean {
    return Array.from(rotas).some((rota) => this.#people.get(rota)?.get(receiver) === false)
  }

  #find(at: number): Map<string, ReadonlyMap<string, boolean>> {
    return new Map(this.#rotas.names.map((name) => [name, this.#peopleOf(name, at)]))
  }

  #peopleOf(name: string, at: number): ReadonlyMap<string, boolean> {
    const { next, receivers } = this.#rotas.base(name, at)
    const all = new Map(receivers.map((receiver) => [receiver, false]))
    let last = receivers
    for (const turn of next) {
      if (!last.some((receiver) => this.#outOfReach.has(receiver))) break
      for (const receiver of turn) {
        if (all.has(receiver)) continue
        all.set(receiver, true)
      }
      last = turn
    }
    return all
  }

  /** Looks whether a receiver is out of reach: it stays so until an attempt succeeds. */
  #reach(receiver: string, at: number): void {
    const tried = this.#rows.all.filter(
      (row) => row.receiver === receiver && row.event === "firing" && row.lastEnd !== undefined,
    )
    const last = tried.toSorted((one, other) => (one.lastEnd ?? 0) - (other.lastEnd ?? 0)).at(-1)
    const isLong = (row: Row) =>
      (row.state === "retry" || row.state === "sending") &&
      !this.#rows.heldRetries.has(row) &&
      (row.retrySince ?? Infinity) + OUT_OF_REACH <= at
    if (last?.state === "sent") this.#outOfReach.delete(receiver)
    else if (last?.state === "failed" || tried.some(isLong)) this.#outOfReach.add(receiver)
  }
}
