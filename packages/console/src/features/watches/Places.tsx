import type { StoredCheckResultEvent, Watch } from "@tocsin/client"
import type { PlaceList } from "@tocsin/contract/watches/places"
import { countText } from "../../format/times.ts"
import { now } from "../../state/clock.ts"
import { MOST } from "../../state/lists.ts"
import type { Answered } from "../../state/Pages.ts"
import { linkTo } from "../../state/Route.ts"
import { mainLink } from "../../view/Listing.tsx"
import { Mark, Time, TimeAfter } from "../../view/states.tsx"
import { Bars } from "../../view/StatusStrip.tsx"
import { useRead } from "../../view/usePages.ts"

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

/** That of an agent, by the changes of its check: availability leaves that out. */
const PlaceStrip = ({ agent_id, check_id }: { readonly agent_id: string; readonly check_id: string }) => {
  const { value } = useRead<Answered<StoredCheckResultEvent>>("api/v1/events/query", {
    agent_id,
    check_id,
    limit: MOST,
  })
  const statuses = value?.items.map(({ observed_at, status }) => ({ from: observed_at, status }))
  return statuses && <DayOf statuses={statuses} />
}

/** The places of a watch: the status of each, its last 24 hours, and whether it counts now. */
export const WatchPlaces = ({ here = [], name, places = [] }: Pick<Watch, "here" | "name" | "places">) => {
  if (places.length === 1 && places[0]?.place === HERE) return null
  const draw = ({ at, counts, place, status }: WatchPlace) => {
    const check_id = `watch:${name}`
    return (
      <li class="row" key={place}>
        <Mark state={status ?? "pending"} word={status ?? "not heard"} />
        {place === HERE ? <b>{place}</b> : mainLink(linkTo("checks", [place, check_id]), place)}
        <span class="notes">{!counts && <em class="is-held">does not count now</em>}</span>
        <span class="strip">
          {place === HERE ? <DayOf statuses={here} /> : <PlaceStrip agent_id={place} check_id={check_id} />}
        </span>
        {at === null ? <span class="when">never</span> : <Time at={at} />}
      </li>
    )
  }
  return (
    <section class="part after" aria-label="Places">
      <h2>Places</h2>
      <ul class="plain" style={{ "--columns": "7rem minmax(0, 1fr) auto 7.5rem 5rem" }}>
        {places.map(draw)}
      </ul>
    </section>
  )
}

const MARKS = { ok: "ok", late: "late", cut_off: "warning", never: "pending" } as const

/** All places, where there are others than the service. */
export const PlaceTable = ({ places }: { readonly places: Places }) => {
  if (places.length < 2) return null
  return (
    <section class="part after" aria-label="Places">
      <h2>Places</h2>
      <ul class="plain" style={{ "--columns": "7rem minmax(0, 1fr) minmax(0, 1fr) 9rem" }}>
        {places.map(({ asked_at, place, state, watches }) => (
          <li class="row" key={place}>
            <Mark state={MARKS[state]} word={state.replace("_", " ")} />
            {place === HERE ? <b>{place}</b> : mainLink(linkTo("agents", [place]), place)}
            <span class="subject">{countText(watches, "watch")}</span>
            <span class="when">
              {place === HERE ? "this service" : <TimeAfter text="asked " at={asked_at} />}
              {place !== HERE && asked_at === null && "has not asked"}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
