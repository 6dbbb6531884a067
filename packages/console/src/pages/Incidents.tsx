import type { HeldIncident } from "@tocsin/client"
import type { ComponentProps } from "preact"
import { useMemo, useRef } from "preact/hooks"
import type { Query } from "../api/request.ts"
import { numberText } from "../format/times.ts"
import { acknowledge, titleOf } from "../state/incidentActions.ts"
import { groupedBy, incidentsOf, MOST } from "../state/lists.ts"
import { go, route } from "../state/location.ts"
import { rowCount } from "../state/Pages.ts"
import { linkTo, type Selection, selectionText } from "../state/Route.ts"
import { mayRespond } from "../state/session.ts"
import { summary } from "../state/summary.ts"
import { act, type Message } from "../state/useAction.ts"
import { ActionButton, QuietButton } from "../view/forms.tsx"
import type { PageCommand } from "../view/Keyboard.tsx"
import { column, type Columns, Listing, mainLink } from "../view/Listing.tsx"
import { select, SelectionBar, useSelecting } from "../view/selecting.tsx"
import { Empty, Mark, Time } from "../view/states.tsx"
import { FilterField, GroupBy, Tabs, Tally } from "../view/navigation.tsx"
import { NotifiedMark } from "../view/NotifiedMarks.tsx"
import { type Listed, usePages } from "../view/usePages.ts"
import { NothingOpen, Start } from "./Start.tsx"

const silence = (ids: Selection): void => go(linkTo("silences", [], { incidents: selectionText(ids) }))

const acknowledgeAll = async (ids: Selection): Promise<Message | undefined> => {
  const done = await acknowledge(ids)
  if (done !== undefined) select([])
  return done
}

const IncidentBar = () => (
  <SelectionBar isOffered={mayRespond}>
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

const subjectOf = ({ agent_id, check_id = "", incident_key }: HeldIncident): string =>
  agent_id === undefined || check_id === "" ? incident_key : `${agent_id}/${check_id}`

const columnsOf = (time: string): Columns<HeldIncident> => [
  column("Severity", "5.5rem", ({ severity }) => <Mark state={severity} />),
  column("Incident", 2.2, (incident) => mainLink(linkTo("incidents", [incident.id]), titleOf(incident))),
  column("Check or key", 1.1, (incident) => <span class="subject">{subjectOf(incident)}</span>),
  column("Notifications", 1, (incident) => <NotifiedMark incident={incident} />),
  column(time, "6.75rem", ({ opened_at, resolved_at }) => <Time at={resolved_at ?? opened_at} />),
]

/** Columns of incidents that keys, the bar and the boxes act on. */
const useColumns = (
  time: string,
  ...lists: readonly [Listed<HeldIncident>, ...ReadonlyArray<Listed<HeldIncident>>]
): Columns<HeldIncident> => {
  const idOf = ({ id }: HeldIncident) => id
  const selecting = useSelecting({ isOffered: mayRespond, lists, idOf, nameOf: titleOf, does: carryOut })
  return useMemo(() => [selecting, ...columnsOf(time)], [selecting, time])
}

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

type ListProps = Omit<ComponentProps<typeof Listing<HeldIncident>>, "kind" | "keyOf">

const List = (props: ListProps) => <Listing kind="incident" keyOf={({ id }) => id} {...props} />

/** The incidents that the address asks for: found by its filter, and in groups by its label. */
const shownOf = (query: Query) => {
  const { filter = "", group } = route.value.parameters
  return groupedBy(incidentsOf(query, filter, group === undefined ? undefined : MOST), group)
}

/** Open incidents: unacknowledged ones first, the worst of them first. */
const OpenIncidents = () => {
  const { severity } = route.value.parameters
  const counts = summary.value
  const open = { state: "open", severity }
  const free = usePages(shownOf({ ...open, acknowledged: false }))
  const taken = usePages(shownOf({ ...open, acknowledged: true }))
  const columns = useColumns("Opened", free, taken)
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
      <List label="Incidents" columns={columns} listed={free} empty={hasTaken ? allTaken : nothing} />
      {hasTaken && (
        <>
          <h2>
            Acknowledged{" "}
            <span class="count">
              {numberText(rowCount(taken.pages))}
              {taken.pages.next !== null && "+"}
            </span>
          </h2>
          <List label="Acknowledged incidents" columns={columns} isHeadless listed={taken} empty={null} />
        </>
      )}
    </>
  )
}

const ResolvedIncidents = () => {
  const listed = usePages(shownOf({ state: "resolved", sort: "resolved_at" }))
  const columns = useColumns("Resolved", listed)
  const nothing = isFiltered() ? <NothingMatches /> : <Empty title="Nothing has resolved yet" />
  return (
    <>
      <Tools />
      <List label="Incidents" columns={columns} listed={listed} empty={nothing} />
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
