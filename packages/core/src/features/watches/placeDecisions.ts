import { Duration } from "effect"
import { firstOutput } from "@tocsin/contract/formats/outputText"
import { withoutPerformance } from "@tocsin/contract/formats/headline"
import type { AgentId, EventId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { type Confirmation, confirmResult, softStateOf } from "@tocsin/contract/checks/confirmResult"
import { type Fails, HERE, type WatchPlace } from "@tocsin/contract/watches/places"

/** A watch as the results of one place show it. */
export interface PlaceState {
  /** The time of its last result, and what that said. */
  readonly at: Instant.Instant
  readonly status: CheckStatus
  readonly output: string
  /** Its confirmed status, and what the result said that confirmed it last. */
  readonly counted?: CheckStatus | undefined
  /** Since when that is ok, or is not. */
  readonly counted_at?: Instant.Instant | undefined
  readonly said?: string | undefined
  /** How many results in a row contradict it; before the first one, how many were ok in a row, or were not. */
  readonly against: number
  /** The IDs of its last results from when its clock was ahead: their times do not say which came already. */
  readonly ids?: ReadonlyArray<EventId>
}

type Result = Pick<PlaceState, "at" | "output" | "status">

/** The state of a place after a result in order, and whether that is confirmed (docs/rules.md#places). */
export const followPlace = (
  before: PlaceState | undefined,
  result: Result,
  limits: Confirmation,
): PlaceState => {
  const isOk = result.status === "ok"
  const { against, counted } = before ?? { against: 0 }
  const said = { ...result, counted: result.status, said: result.output, against: 0 }
  if (counted !== undefined) {
    const { isReported, state } = confirmResult(softStateOf(counted, against), result.status, limits)
    return isReported ? said : { ...result, counted, said: before?.said, against: state.against }
  }
  const times = before !== undefined && (before.status === "ok") === isOk ? against + 1 : 1
  return times >= (isOk ? limits.good : limits.bad) ? said : { ...result, against: times }
}

/** From mild to severe. A place that is unknown by its confirmed status is worse than one that warns. */
const RANKS: Readonly<Record<CheckStatus, number>> = { ok: 0, warning: 1, unknown: 2, critical: 3 }

/** How many of so many places must have a status. */
const wantedOf = (fails: Fails, places: number): number => {
  if (typeof fails === "number") return fails
  if (fails === "any") return 1
  return fails === "all" ? places : Math.floor(places / 2) + 1
}

/**
 * The status of a watch by the confirmed ones of the places that count: the worst that enough of them have or exceed;
 * `undefined` if nothing is decided. `places` is of how many its part is taken.
 */
export const decideStatus = (
  counting: ReadonlyArray<CheckStatus>,
  { fails, places }: { readonly fails: Fails; readonly places: number },
): CheckStatus | undefined => {
  const wanted = wantedOf(fails, places)
  if (counting.length === 0 || counting.length < wanted) return undefined
  return (["critical", "warning"] as const).find((status) => countOf(counting, status) >= wanted) ?? "ok"
}

/** How many have a status or a worse one; of `ok`, how many are ok. */
const countOf = (statuses: ReadonlyArray<CheckStatus>, status: CheckStatus): number =>
  statuses.filter((one) => (status === "ok" ? one === "ok" : RANKS[one] >= RANKS[status])).length

/** How long a result, and a change of the places, matter: two periods, and the longest probe. */
export const lastingFor = (everyMillis: number): Duration.Duration =>
  Duration.sum(Duration.millis(2 * everyMillis), Duration.seconds(30))

/** Whether a moment is at most so long ago; one that a clock dated ahead is. */
export const isWithin = (at: Instant.Instant, time: Duration.Duration, now: Instant.Instant): boolean =>
  now <= Instant.plus(at, time)

/** The terms of a watch by which its places are judged. */
export interface Judged {
  readonly every_millis: number
  readonly from: ReadonlyArray<AgentId>
  readonly fails: Fails
  /** When it was created, or its probe or places were changed. */
  readonly since: Instant.Instant
  readonly states: ReadonlyMap<AgentId, PlaceState>
}

/** The other facts that decide whether a place counts. */
export interface Around {
  readonly now: Instant.Instant
  readonly isAccepted: (place: AgentId) => boolean
  readonly cutOffSince: (place: AgentId) => Instant.Instant | undefined
}

/** A place as it is judged: `why` it does not count, in words. */
interface Standing {
  readonly place: AgentId
  readonly state: PlaceState | undefined
  readonly why: string | undefined
}

const LONGEST_WORDS = 80

/** A place's output without performance data. */
const linesOf = (output: string): string => {
  const [first = "", ...further] = output.split("\n")
  return [withoutPerformance(first), ...further].join("\n").trimEnd()
}

/** The first line of an output, without the words of its probe and status, cut at so many characters. */
export const wordsOf = (output: string, most = LONGEST_WORDS): string => {
  const words = Array.from(
    linesOf(output)
      .split("\n", 1)[0]
      ?.replace(/^[A-Z]+ [A-Z]+ - /, "") ?? "",
  )
  return words.length <= most ? words.join("") : `${words.slice(0, most - 1).join("")}…`
}

/** Why a place does not count, whatever becomes of its network. */
const lacking = (
  { every_millis }: Judged,
  { isAccepted, now }: Around,
  place: AgentId,
  state: PlaceState | undefined,
) => {
  if (place !== HERE && !isAccepted(place)) return "not accepted"
  if (state === undefined) return "not heard"
  if (!isWithin(state.at, lastingFor(every_millis), now)) return "late"
  if (state.status === "unknown") return wordsOf(state.output) || "unknown"
  return state.counted === undefined ? "unconfirmed" : undefined
}

/** How long a place that is cut off is left out where no other one counts. */
export const HOLD_FOR = Duration.minutes(2)

const standingsOf = (judged: Judged, around: Around): ReadonlyArray<Standing> => {
  const found = judged.from.map((place) => {
    const state = judged.states.get(place)
    return { place, state, why: lacking(judged, around, place, state) }
  })
  const isWell = ({ place, why }: Standing) => why === undefined && around.cutOffSince(place) === undefined
  const isOneWell = found.some(isWell)
  return found.map((one) => {
    const since = around.cutOffSince(one.place)
    const isLeftOut = since !== undefined && (isOneWell || Instant.isRecent(since, HOLD_FOR, around.now))
    return one.why === undefined && isLeftOut ? { ...one, why: "cut off" } : one
  })
}

/** The places as a watch shows them. */
export const shownPlaces = (judged: Judged, around: Around): ReadonlyArray<WatchPlace> =>
  standingsOf(judged, around).map(({ place, state, why }) => ({
    place,
    status: state?.status === "unknown" ? "unknown" : (state?.counted ?? null),
    at: state?.at ?? null,
    counts: why === undefined,
  }))

const byName = (a: Standing, b: Standing): number => (a.place < b.place ? -1 : 1)

/** The decision of the places of a watch together (docs/rules.md#places). */
export const decidePlaces = (
  judged: Judged,
  around: Around,
): { readonly status: CheckStatus; readonly output: string } | undefined => {
  const standings = standingsOf(judged, around)
  const counting = standings.flatMap((one) =>
    one.why === undefined && one.state?.counted !== undefined ? [{ ...one, status: one.state.counted }] : [],
  )
  const statuses = counting.map(({ status }) => status)
  const isFirst = isWithin(judged.since, lastingFor(judged.every_millis), around.now)
  const places = isFirst ? judged.from.length : counting.length
  const status = decideStatus(statuses, { fails: judged.fails, places })
  if (status === undefined) return undefined
  const worstFirst = counting.toSorted((a, b) => RANKS[b.status] - RANKS[a.status] || byName(a, b))
  const others = standings.filter(({ why }) => why !== undefined).toSorted(byName)
  const shares = [
    ...worstFirst.map((one) => `${one.place} ${one.status === "ok" ? "ok" : wordsOf(one.state?.said ?? "")}`),
    ...others.map(({ place, why }) => `${place} ${why}`),
  ]
  const of = `${countOf(statuses, status)} of ${counting.length} ${counting.length === 1 ? "place" : "places"}`
  const further = [...worstFirst, ...others].flatMap(({ place, state, why }) => {
    const said = linesOf((why === undefined ? state?.said : state?.output) ?? "")
    return said === "" ? [] : `${place}: ${said}`
  })
  const lines = [`${status} from ${of}: ${shares.join("; ")}`, ...further]
  return { status, output: firstOutput(lines.join("\n")).output ?? "" }
}
