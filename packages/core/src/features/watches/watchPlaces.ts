import { Duration, Equal } from "effect"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { type Fails, HERE, USUAL_FAILS, USUAL_FROM } from "@tocsin/contract/watches/places"
import type { Judged, PlaceState } from "./placeDecisions.ts"
import type { WatchPlaces, WatchRecord } from "./WatchRecord.ts"

type Placed = Pick<WatchRecord, "places">

/** The places of a watch, and how many of them must have a status. */
export const placesOf = ({
  places,
}: Placed): { readonly from: ReadonlyArray<AgentId>; readonly fails: Fails } => ({
  from: places?.from ?? USUAL_FROM,
  fails: places?.fails ?? USUAL_FAILS,
})

/** Whether several places, or another one than the service, decide about a watch. */
export const isPlaced = (watch: Placed): watch is Placed & { readonly places: WatchPlaces } =>
  watch.places !== undefined && (watch.places.from.length > 1 || watch.places.from[0] !== HERE)

/** Whether the service probes a watch itself. */
export const isFromHere = (watch: Placed): boolean => placesOf(watch).from.includes(HERE)

const momentOf = (micros: number): Instant.Instant => Instant.fromMicros(BigInt(micros))

export const stateIn = ({ places }: Placed, place: AgentId): PlaceState | undefined => {
  const stored = places?.states[place]
  if (stored === undefined) return undefined
  const { at, counted_at, ...state } = stored
  return {
    ...state,
    at: momentOf(at),
    counted_at: counted_at === undefined ? undefined : momentOf(counted_at),
  }
}

/** A watch whose place has another state. */
export const withState = <W extends { readonly places: WatchPlaces }>(
  watch: W,
  place: AgentId,
  { at, counted_at, ...state }: PlaceState,
): W => {
  const turned = counted_at === undefined ? {} : { counted_at: Number(counted_at) }
  const stored = { ...state, ...turned, at: Number(at) }
  return { ...watch, places: { ...watch.places, states: { ...watch.places.states, [place]: stored } } }
}

/** A place that turns more often in a day keeps so many. */
const MOST_TURNS = 100

type Turns = NonNullable<WatchPlaces["here"]>

/** Those of the last day, and the one before them. */
const ofLastDay = (turns: Turns, now: Instant.Instant): Turns => {
  const dayAgo = Number(Instant.minus(now, Duration.days(1)))
  return turns.slice(
    Math.max(
      0,
      turns.findLastIndex(([from]) => from <= dayAgo),
    ),
  )
}

/** A watch that keeps a confirmed status of the service as a place. */
export const withTurn = <W extends { readonly places: WatchPlaces }>(
  watch: W,
  { at, counted }: Pick<PlaceState, "at" | "counted">,
): W => {
  const { here = [] } = watch.places
  if (counted === undefined || here.at(-1)?.[1] === counted) return watch
  const kept = ofLastDay(here, at).slice(1 - MOST_TURNS)
  return { ...watch, places: { ...watch.places, here: [...kept, [Number(at), counted]] } }
}

/** The confirmed statuses of the service in the last day, where it is one of several places. */
export const turnsHere = (watch: Placed, now: Instant.Instant) =>
  isPlaced(watch) && isFromHere(watch)
    ? {
        here: ofLastDay(watch.places.here ?? [], now).map(([from, status]) => ({
          from: momentOf(from),
          status,
        })),
      }
    : {}

/** A watch as its places are judged. */
export const judgedOf = (watch: WatchRecord): Judged => {
  const { fails, from } = placesOf(watch)
  const { created_at, every_millis, places } = watch
  const since = places === undefined ? created_at : Instant.fromMicros(BigInt(places.since))
  const states = from.flatMap((place) => {
    const state = place === HERE ? stateHere(watch) : stateIn(watch, place)
    return state === undefined ? [] : [[place, state] as const]
  })
  return { every_millis, fails, from, since, states: new Map(states) }
}

/** The state of the service as a place. */
const stateHere = (watch: WatchRecord): PlaceState | undefined => {
  const { against, counted, output = "", probed_at: at, status } = watch
  if (at === undefined || status === undefined) return undefined
  return { at, status, output, against, counted, said: stateIn(watch, HERE)?.said ?? output }
}

/** A watch after its probe, its places, or how many of them must have a status have changed. */
export const placesAfter = (
  before: WatchRecord,
  terms: { readonly from?: ReadonlyArray<AgentId>; readonly fails?: Fails },
  { isProbeChanged, now }: { readonly isProbeChanged: boolean; readonly now: Instant.Instant },
): Pick<WatchRecord, "against" | "counted" | "counted_at" | "output" | "places" | "probed_at" | "status"> => {
  const { against, counted, counted_at, output, probed_at, status } = before
  const former = placesOf(before)
  const { fails = former.fails, from = former.from } = terms
  const isUsual = fails === USUAL_FAILS && Equal.equals(from, USUAL_FROM)
  const isChanged = isProbeChanged || fails !== former.fails || !Equal.equals(from, former.from)
  const isKept = !isProbeChanged || !isPlaced(before)
  const kept = Object.entries(isKept ? (before.places?.states ?? {}) : {})
  const decided =
    before.places?.decided ??
    (probed_at === undefined || counted === undefined
      ? undefined
      : { at: Number(probed_at), status: counted, output: output ?? "" })
  // Before it had other places, its own status was that of the service.
  const own =
    counted_at === undefined || counted === undefined ? undefined : ([Number(counted_at), counted] as const)
  const here = before.places?.here ?? (own && [own])
  const places = {
    from,
    fails,
    ...(here !== undefined && from.includes(HERE) && { here }),
    ...(decided !== undefined && { decided }),
    since: isChanged || before.places === undefined ? Number(now) : before.places.since,
    states: Object.fromEntries(kept.filter(([place]) => from.some((one) => one === place))),
  }
  const ofHere =
    isKept && from.includes(HERE)
      ? { against, counted, counted_at, output, probed_at, status }
      : {
          against: 0,
          counted: undefined,
          counted_at: undefined,
          output: undefined,
          probed_at: undefined,
          status: undefined,
        }
  return { ...ofHere, places: isUsual ? undefined : places }
}
