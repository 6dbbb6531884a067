import type { ReadonlySignal } from "@preact/signals"
import type { HeldIncident } from "@tocsin/client"
import type { ComponentChildren } from "preact"
import { useCallback, useRef } from "preact/hooks"
import type { Query } from "../api/request.ts"
import { numberText } from "../format/times.ts"
import { acknowledge, titleOf } from "../state/incidentActions.ts"
import { groupedBy, incidentsOf, MOST } from "../state/lists.ts"
import { go, route } from "../state/location.ts"
import { itemsOf, type Pages, rowCount } from "../state/Pages.ts"
import { linkTo, type Selection, selectionText } from "../state/Route.ts"
import { mayRespond } from "../state/session.ts"
import { summary } from "../state/summary.ts"
import { act, type Message } from "../state/useAction.ts"
import { ActionButton, QuietButton } from "../view/forms.tsx"
import type { PageCommand } from "../view/Keyboard.tsx"
import {
  Listing,
  type Pick,
  select,
  SelectAll,
  SelectBox,
  SelectionBar,
  useSelecting,
} from "../view/Listing.tsx"
import { Empty, Mark, Time } from "../view/states.tsx"
import { FilterField, GroupBy, Tabs, Tally } from "../view/navigation.tsx"
import { type Latest, NotifiedMark, useLatest } from "../view/NotifiedMarks.tsx"
import { type Listed, usePages } from "../view/usePages.ts"
import { NothingOpen, Start } from "./Start.tsx"

const silence = (ids: Selection): void => go(linkTo("silences", [], { incidents: selectionText(ids) }))

const acknowledgeAll = async (ids: Selection): Promise<Message | undefined> => {
  const done = await acknowledge(ids)
  if (done !== undefined) select([])
  return done
}

const IncidentBar = () => (
  <SelectionBar isOffered={mayRespond.value}>
    {(selected) => (
      <>
        <ActionButton kind="main" does={() => acknowledgeAll(selected)}>
          Acknowledge
        </ActionButton>
        <QuietButton does={() => silence(selected)}>Silence</QuietButton>
      </>
    )}
  </SelectionBar>
)

const carryOut = (command: PageCommand, selected: Selection, id: string | undefined): void => {
  const chosen = selected.length > 0 ? selected : id === undefined ? [] : [id]
  if (command === "explain" && id !== undefined) go(linkTo("incidents", [id], { focus: "explain" }))
  if (chosen.length === 0 || !mayRespond.value) return
  if (command === "acknowledge") void act(() => acknowledgeAll(chosen))
  if (command === "silence") silence(chosen)
  if (command === "note" && id !== undefined) go(linkTo("incidents", [id], { focus: "note" }))
}

/** Of so many, a search is read again with each change; of more, or of the past, every few seconds. */
const FEW = 1_000

const drawIncident = (incident: HeldIncident, pick: Pick, latest: ReadonlySignal<Latest | undefined>) => {
  const { id, agent_id, check_id = "", incident_key } = incident
  const title = titleOf(incident)
  const subject = agent_id === undefined || check_id === "" ? incident_key : `${agent_id}/${check_id}`
  return (
    <>
      {mayRespond.value ? <SelectBox id={id} name={title} pick={pick} /> : <i />}
      <Mark state={incident.severity} />
      <a class="main" href={linkTo("incidents", [id])} title={title}>
        {title}
      </a>
      <span class="subject" title={subject}>
        {subject}
      </span>
      <NotifiedMark incident={incident} latest={latest} />
      <Time at={incident.resolved_at ?? incident.opened_at} />
    </>
  )
}

/** Rows of incidents that keys, the bar and the boxes act on. */
const useRows = (...lists: ReadonlyArray<{ readonly pages: Pages<HeldIncident> }>) => {
  const ids = () => lists.flatMap(({ pages }) => itemsOf(pages)).map(({ id }) => id)
  const pick = useSelecting({ isOffered: mayRespond.value, ids, does: carryOut })
  const latest = useLatest()
  return useCallback((incident: HeldIncident) => drawIncident(incident, pick, latest), [latest, pick])
}

const headsOf = (pages: Pages<HeldIncident>, time: string) => [
  mayRespond.value && <SelectAll key="all" ids={itemsOf(pages).map(({ id }) => id)} />,
  "Severity",
  "Incident",
  "Check or key",
  "Notifications",
  time,
]

const SEVERITIES = ["critical", "unknown", "warning"] as const

const Tools = () => {
  const counts = summary.value?.incidents
  return (
    <div class="tools">
      <div class="filters">
        <FilterField what="summary, agent or check" />
        {counts !== undefined && route.value.parameters["tab"] !== "resolved" && (
          <Tally parameter="severity" counts={SEVERITIES.map((each) => [each, counts[each]])} />
        )}
      </div>
      <IncidentBar />
    </div>
  )
}

const isFiltered = (): boolean => {
  const { filter = "", severity = "" } = route.value.parameters
  return filter !== "" || severity !== ""
}

const NothingMatches = () => <Empty title="No incident matches">Change the filter to see the others.</Empty>

interface ListProps {
  readonly label?: string
  /** The name of the column of times; without it, the columns have no heads. */
  readonly time?: string
  readonly listed: Listed<HeldIncident>
  readonly empty: ComponentChildren
  readonly draw: ReturnType<typeof useRows>
}

const List = ({ label = "Incidents", time, listed, empty, draw }: ListProps) => (
  <Listing
    label={label}
    kind="incident"
    heads={time === undefined ? [] : headsOf(listed.pages, time)}
    listed={listed}
    keyOf={({ id }) => id}
    empty={empty}
  >
    {draw}
  </Listing>
)

/** The incidents that the address asks for: found by its filter, and in groups by its label. */
const shownOf = (query: Query, isSlow: boolean) => {
  const { filter = "", group } = route.value.parameters
  return groupedBy(incidentsOf(query, filter, isSlow, group === undefined ? undefined : MOST), group)
}

/** Open incidents: unacknowledged ones first, the worst of them first. */
const OpenIncidents = () => {
  const { severity } = route.value.parameters
  const counts = summary.value
  const isSlow = (counts?.open_incidents ?? 0) > FEW
  const open = { state: "open", severity }
  const free = usePages(shownOf({ ...open, acknowledged: false }, isSlow))
  const taken = usePages(shownOf({ ...open, acknowledged: true }, isSlow))
  const draw = useRows(free, taken)
  const hasAgents = counts === undefined || counts.agents_online + counts.agents_offline > 0
  const hasTaken = rowCount(taken.pages) > 0
  const isStarting = useRef(false)
  const isEmpty = !isFiltered() && rowCount(free.pages) === 0 && !hasTaken
  // The steps stay while their results arrive.
  if (!hasAgents && isEmpty) isStarting.current = true
  if (isStarting.current && isEmpty) return <Start />
  const nothing = isFiltered() ? <NothingMatches /> : <NothingOpen />
  const allTaken = <p class="lead">Somebody has acknowledged each of them.</p>
  return (
    <>
      <Tools />
      <List time="Opened" listed={free} empty={hasTaken ? allTaken : nothing} draw={draw} />
      {hasTaken && (
        <>
          <h2>
            Acknowledged{" "}
            <span class="count">
              {numberText(rowCount(taken.pages))}
              {taken.pages.next !== null && "+"}
            </span>
          </h2>
          <List label="Acknowledged incidents" listed={taken} empty={null} draw={draw} />
        </>
      )}
    </>
  )
}

const ResolvedIncidents = () => {
  const listed = usePages(shownOf({ state: "resolved", sort: "resolved_at" }, true))
  const draw = useRows(listed)
  const nothing = isFiltered() ? <NothingMatches /> : <Empty title="Nothing has resolved yet" />
  return (
    <>
      <Tools />
      <List time="Resolved" listed={listed} empty={nothing} draw={draw} />
    </>
  )
}

export const Incidents = () => {
  const tab = route.value.parameters["tab"] === "resolved" ? "resolved" : "open"
  const open = summary.value?.open_incidents
  return (
    <>
      <h1>Incidents</h1>
      <Tabs
        label="Which incidents"
        parameter="tab"
        current={tab}
        tabs={[
          ["open", <>Open {open !== undefined && <span class="count">{numberText(open)}</span>}</>],
          ["resolved", "Resolved"],
        ]}
      >
        <GroupBy />
      </Tabs>
      {tab === "open" ? <OpenIncidents /> : <ResolvedIncidents />}
    </>
  )
}
