import type { Agent, StoredCheckResultEvent, Watch } from "@tocsin/client"
import type { PlaceList } from "@tocsin/contract/watches/places"
import { saidText } from "../../format/saidText.ts"
import { countText } from "../../format/times.ts"
import { now } from "../../state/clock.ts"
import { MOST } from "../../state/lists.ts"
import type { Answered } from "../../state/Pages.ts"
import { linkTo } from "../../state/Route.ts"
import { mainLink } from "../../view/rowLinks.tsx"
import { Mark, Time, TimeAfter } from "../../view/states.tsx"
import { Bars } from "../../view/StatusStrip.tsx"
import { useRead } from "../../view/usePages.ts"
import { mayAdminister } from "../../state/session.ts"
import { MakePlace } from "./MakePlace.tsx"

/** The service as a place. */
export const HERE = "here"

const DAY = 86_400_000

type List = (typeof PlaceList)["Encoded"]
export type Places = List["items"]

export const usePlaces = (): Places => useRead<List>("ops/v1/places").value?.items ?? []

type WatchPlace = NonNullable<Watch["places"]>[number]

/** The last 24 hours of a place, by its statuses in any order. */
const DayOf = ({ statuses }: { readonly statuses: NonNullable<Watch["here"]> }) => {
  const to = now.peek()
  const phases = statuses
    .map(({ from, status }) => ({ from, state: status }))
    .toSorted((a, b) => (a.from < b.from ? -1 : 1))
  return <Bars from={new Date(to - DAY).toISOString()} to={new Date(to).toISOString()} phases={phases} />
}

/** The results of an agent that changed its status: availability leaves its check out. */
const useTurns = (agent_id: string, check_id: string) =>
  useRead<Answered<StoredCheckResultEvent>>("api/v1/events/query", { agent_id, check_id, limit: MOST }).value
    ?.items

interface AgentRowProps {
  readonly check_id: string
  readonly isPlace: boolean
  readonly of: WatchPlace
}

/** An agent as a place of a watch; where it does not count, why, and what to do. */
const AgentRow = ({ check_id, isPlace, of: { counts, place, status } }: AgentRowProps) => {
  const turns = useTurns(place, check_id)
  const statuses = turns?.map(({ observed_at, status: to }) => ({ from: observed_at, status: to }))
  const why = status === "unknown" ? saidText(turns?.[0]?.output, "unknown") : undefined
  return (
    <>
      {mainLink(isPlace ? linkTo("checks", [place, check_id]) : linkTo("agents", [place]), place)}
      <span class="notes">
        {!counts && <em class="is-held">does not count now</em>}
        {!isPlace && (
          <>
            It is no place: see <i>Add a place</i> below the <a href={linkTo("watches")}>watches</a>.
          </>
        )}
        {why}
      </span>
      <span class="strip">{statuses && <DayOf statuses={statuses} />}</span>
    </>
  )
}

interface WatchPlacesProps extends Pick<Watch, "here" | "name" | "places"> {
  readonly all: Places
}

/** The places of a watch: the status of each, its last 24 hours, and whether it counts now. */
export const WatchPlaces = ({ all, here = [], name, places = [] }: WatchPlacesProps) => {
  if (places.length === 1 && places[0]?.place === HERE) return null
  const isNever = (of: string) => all.some(({ place, state }) => place === of && state === "never")
  const draw = (one: WatchPlace) => {
    const { at, counts, place, status } = one
    const check_id = `watch:${name}`
    return (
      <li class="row" key={place}>
        <Mark state={status ?? "pending"} word={status ?? "not heard"} />
        {place === HERE ? (
          <>
            <b>{place}</b>
            <span class="notes">{!counts && <em class="is-held">does not count now</em>}</span>
            <span class="strip">
              <DayOf statuses={here} />
            </span>
          </>
        ) : (
          <AgentRow check_id={check_id} isPlace={!isNever(place)} of={one} />
        )}
        {at === null ? <span class="when">never</span> : <Time at={at} />}
      </li>
    )
  }
  return (
    <section class="part after" aria-label="Places">
      <h2>Places</h2>
      <ul class="plain" style={{ "--columns": "7rem minmax(6rem, 1fr) minmax(0, 3fr) 7.5rem 5rem" }}>
        {places.map(draw)}
      </ul>
    </section>
  )
}

const MARKS = { ok: "ok", late: "late", cut_off: "warning", never: "pending" } as const

/** A place that asks, and refuses or cannot probe all its watches, is not well. */
const isRefusing = ({ unknown, watches }: Places[number]): boolean => unknown?.watches === watches

/** How many places of a watch do not count, which its status does not say. */
export const unseenText = ({ from = [HERE], last }: Watch, places: Places): string => {
  const [, counting = from.length] = /^\w+ from \d+ of (\d+) /.exec(last?.output ?? "") ?? []
  const lacking = from.length - Number(counting)
  if (lacking > 0) return `${lacking} of ${countText(from.length, "place")} not counting`
  const none = places.find((one) => from.includes(one.place) && (one.state === "never" || isRefusing(one)))
  if (last !== null || none === undefined) return ""
  return `${none.place} ${none.state === "never" ? "is no place" : "cannot probe it"}`
}

/** Whether an agent of a host is a place, and the commands that make it one. */
export const AsPlace = ({ agent_id, labels = {} }: Pick<Agent, "agent_id" | "labels">) => {
  const places = usePlaces()
  const own = places.find(({ place }) => place === agent_id)
  if (places.length === 0 || !("service_agent_version" in labels)) return null
  if (own !== undefined && own.asked_at !== null)
    return (
      <p>
        It is a <a href={linkTo("watches")}>place</a> of {countText(own.watches, "watch")}
        {own.unknown && `, of which ${own.unknown.watches} unknown: ${own.unknown.why}`}
        <TimeAfter text=", and asked " at={own.asked_at} />
      </p>
    )
  return (
    mayAdminister.value && (
      <details open={own !== undefined}>
        <summary>It is no place: no watch is probed from it</summary>
        <MakePlace agent={agent_id} />
      </details>
    )
  )
}

/** All places: how each is, and how an agent becomes one. */
export const PlaceTable = ({ places }: { readonly places: Places }) => {
  if (places.length === 0) return null
  const draw = (one: Places[number]) => {
    const { asked_at, place, state, unknown, watches } = one
    const isUnknown = state === "ok" && isRefusing(one)
    return (
      <li class="row" key={place}>
        <Mark
          state={isUnknown ? "unknown" : MARKS[state]}
          word={isUnknown ? "unknown" : state.replace("_", " ")}
        />
        {place === HERE ? <b>{place}</b> : mainLink(linkTo("agents", [place]), place)}
        <span class="notes">
          {countText(watches, "watch")}
          {unknown && `, ${unknown.watches} unknown: ${unknown.why}`}
        </span>
        <span class="when">
          {place === HERE && "this service"}
          {place !== HERE && (state === "ok" ? "asks every 30 s" : <TimeAfter text="asked " at={asked_at} />)}
          {place !== HERE && asked_at === null && "never asked: it is no place"}
        </span>
      </li>
    )
  }
  return (
    <section class="part after" aria-label="Places">
      <h2>Places</h2>
      <ul class="plain" style={{ "--columns": "7rem minmax(4rem, 1fr) minmax(0, 3fr) minmax(0, 12rem)" }}>
        {places.map(draw)}
      </ul>
      {mayAdminister.value && (
        <details open={places.some(({ state }) => state === "never")}>
          <summary>Add a place</summary>
          <MakePlace />
        </details>
      )}
    </section>
  )
}
