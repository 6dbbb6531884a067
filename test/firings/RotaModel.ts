import { isDeepStrictEqual } from "node:util"
import { type Policy, type Rota, type Story, WEEKDAYS } from "./Story.ts"
import { firstAt, wallAt, wallOf } from "./WallClock.ts"

/** Who is on call, by docs/rules.md alone: it walks from turn to turn. */

/** Receivers that take a rota over, in the order in which they were made. */
export interface Override {
  readonly rota: string
  readonly receivers: ReadonlyArray<string>
  readonly from: number
  until: number
}

/** Receivers that are on call together. */
type Place = ReadonlyArray<string>

const DAY = 86_400

const turnAt = ({ every, from, order, tz = "UTC" }: Rota, at: number): number => {
  const first = wallOf(from)
  let turn = 0
  while (firstAt(tz, first + (turn + 1) * every) <= at) turn += 1
  return turn % order.length
}

/** Whether a moment is in hours that began on its day or on the day before it. */
const isWithin = ({ hours = [], tz = "UTC" }: Rota, at: number): boolean => {
  const today = Math.floor(wallAt(tz, at) / DAY)
  return [today - 1, today].some((day) => {
    const weekday = WEEKDAYS[(day + 4) % 7]
    return hours.some(({ days, from, to }) => {
      const [begins, ends] = [day * DAY + from, (from < to ? day : day + 1) * DAY + to]
      const isOn = days === undefined || (weekday !== undefined && days.includes(weekday))
      return isOn && firstAt(tz, begins) <= at && at < firstAt(tz, ends)
    })
  })
}

/** Who could be on call in a rota, one place after the other; the first one is, and the next ones may stand beside it. */
export const placesOf = (
  { policy: { rotas = {} }, receivers }: Pick<Story, "policy" | "receivers">,
  overrides: ReadonlyArray<Override>,
  name: string,
  at: number,
): ReadonlyArray<Place> => {
  const rota = rotas[name]
  if (rota === undefined) return []
  const turn = turnAt(rota, at)
  const turns = [...rota.order.slice(turn), ...rota.order.slice(0, turn)]
  // One whose receivers the policy lacks does not count. Of those that cover a moment, the latest does.
  const override = overrides
    .filter((one) => one.rota === name && one.from <= at && at < one.until)
    .findLast((one) => one.receivers.every((receiver) => receivers.includes(receiver)))
  if (override !== undefined) return [override.receivers, ...turns]
  if (rota.hours === undefined || isWithin(rota, at)) return turns
  const { otherwise = [] } = rota
  const [other = ""] = otherwise
  const first =
    rotas[other] === undefined
      ? otherwise
      : placesOf({ policy: { rotas }, receivers }, overrides, other, at)[0]
  return [first ?? [], ...turns]
}

/** Whom a route names that names all: each rota that is not the `otherwise` of another, and each receiver that no rota names. */
export const everyoneOf = (
  { rotas = {} }: Policy,
  receivers: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const all = Object.values(rotas)
  const named = [
    ...all.flatMap(({ order }) => order.flat()),
    ...all.flatMap(({ otherwise = [] }) => otherwise),
  ]
  return [...Object.keys(rotas), ...receivers].filter((name) => !named.includes(name))
}

/** That a receiver is on call in a rota. */
interface Stay {
  /** When it came; never, if it was on call as the incident opened. */
  readonly cameAt: number | undefined
  /** Whether it came because another one refused. */
  readonly byRefusal: boolean
  /** The rotas in which it was on call just before. */
  readonly cameFrom: ReadonlyArray<string>
  /** Whether it stands beside one that refused. */
  readonly isBeside: boolean
}

/** How an attempt ended, or that one has been in retry for so long that its receiver is out of reach. */
export type Ended = "sent" | "retry" | "failed" | "out_of_reach"

/** By rota, who could be on call there. */
export type Places = ReadonlyMap<string, ReadonlyArray<Place>>

/** Who is on call for an incident, and since when. */
export class OnCallModel {
  /** By rota and receiver. */
  stays: ReadonlyMap<string, ReadonlyMap<string, Stay>> = new Map()
  /** How each attempt ended, and who was out of reach from then on. */
  readonly answers: Array<{ readonly receiver: string; readonly how: Ended; at: number }> = []
  readonly #refused = new Set<string>()
  readonly #outOfReach = new Set<string>()
  #places: Places = new Map()

  /** From a moment on, these could be on call; without one, the incident opens. */
  follow(places: Places, at: number | undefined, byRefusal = false): void {
    const before = Array.from(this.stays)
    this.#places = places
    const staysIn = (rota: string, all: ReadonlyArray<Place>) => {
      const isRefused = (receiver: string) => this.#refused.has(receiver) || this.#outOfReach.has(receiver)
      const first = all.findIndex((place) => !place.some(isRefused))
      const onCall = (first < 0 ? all : all.slice(0, first + 1)).map((place, n) =>
        place.map((receiver): [string, Stay] => {
          const known = this.stays.get(rota)?.get(receiver)
          const cameFrom = before.flatMap(([name, stays]) => (stays.has(receiver) ? name : []))
          return [receiver, { ...(known ?? { cameAt: at, byRefusal, cameFrom }), isBeside: n > 0 }]
        }),
      )
      // One who is in several places has the first of them.
      return new Map(onCall.flat().toReversed())
    }
    this.stays = new Map(Array.from(places, ([rota, all]) => [rota, staysIn(rota, all)]))
  }

  /** How an entry of a route leads to a receiver, by its name or that of a rota. */
  ways(
    name: string,
    receiver: string,
  ): ReadonlyArray<{ readonly rota?: string; readonly isBeside: boolean; readonly cameAt?: number }> {
    const stays = this.stays.get(name)
    if (stays === undefined) return name === receiver ? [{ isBeside: false }] : []
    const stay = stays.get(receiver)
    if (stay === undefined) return []
    // Who comes by a refusal comes after the firing that was refused.
    const came = stay.cameAt !== undefined && { cameAt: stay.cameAt + Number(stay.byRefusal) }
    return [{ rota: name, isBeside: stay.isBeside, ...came }]
  }

  /** An attempt ends, or has not for a while. */
  answer(receiver: string, how: Ended, at: number): void {
    this.answers.push({ receiver, how, at })
    this.#refuse(receiver, how, at)
  }

  #refuse(receiver: string, how: Ended, at: number): void {
    const before = [this.#refused.has(receiver), this.#outOfReach.has(receiver)]
    if (how === "out_of_reach") this.#outOfReach.add(receiver)
    else if (how === "failed") this.#refused.add(receiver)
    // Only an attempt that succeeds reaches somebody again.
    else if (how === "sent") {
      this.#refused.delete(receiver)
      this.#outOfReach.delete(receiver)
    }
    if (isDeepStrictEqual(before, [this.#refused.has(receiver), this.#outOfReach.has(receiver)])) return
    this.follow(this.#places, at, true)
  }

  /** Other rules decide about the past too, or other times. */
  repeat(moments: ReadonlyArray<number>, placesAt: (at: number) => Places): void {
    this.#refused.clear()
    this.#outOfReach.clear()
    this.stays = new Map()
    for (const [n, at] of moments.entries()) {
      this.follow(placesAt(at), n === 0 ? undefined : at)
      for (const { how, receiver, at: ended } of this.answers)
        if (Math.ceil(ended) === at) this.#refuse(receiver, how, at)
    }
  }
}
