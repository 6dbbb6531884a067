import type { HeldIncident } from "@tocsin/client"
import type { ComponentChildren, ComponentProps } from "preact"
import { useMemo } from "preact/hooks"
import type { Query } from "../api/request.ts"
import { saidText } from "../format/saidText.ts"
import { numberText, spanText } from "../format/times.ts"
import { acknowledge, nameOf, subjectText } from "../state/incidentActions.ts"
import { incidentsOf, type List, MOST, SEVERITIES, STATES } from "../state/lists.ts"
import { go, route } from "../state/location.ts"
import { nameAmong, sharedTitles } from "../state/names.ts"
import { itemsOf, rowCount, withoutMoved } from "../state/Pages.ts"
import { linkTo, type Selection, selectionText } from "../state/Route.ts"
import { mayAdminister, mayRespond } from "../state/session.ts"
import { summary } from "../state/summary.ts"
import { act, type Message } from "../state/useAction.ts"
import { Export } from "../view/Export.tsx"
import { ActionButton, Field, QuietButton } from "../view/forms.tsx"
import type { PageCommand } from "../view/Keyboard.tsx"
import { column, type Columns, Listing } from "../view/Listing.tsx"
import { mainLink, saidLink } from "../view/rowLinks.tsx"
import { select, SelectionBar, useSelecting } from "../view/selecting.tsx"
import { Empty, Mark, Time } from "../view/states.tsx"
import { chosenDays, Days, FilterField, GroupBy, parameterOf, Tabs, Tally } from "../view/navigation.tsx"
import { NotifiedMark, ReachesNobody, useReaches } from "../view/NotifiedMarks.tsx"
import { type Listed, usePages } from "../view/usePages.ts"

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

const tookText = ({ opened_at, resolved_at }: HeldIncident): string =>
  typeof resolved_at === "string" ? spanText(Date.parse(resolved_at) - Date.parse(opened_at)) : ""

const took = column<HeldIncident>(
  "Took",
  "5rem",
  (incident) => <span class="took">{tookText(incident)}</span>,
  "took",
)

const columnsOf = (time: string, shown: typeof nameOf): Columns<HeldIncident> => [
  column("Severity", "5.5rem", ({ severity }) => <Mark state={severity} />, "severity"),
  column(
    "Check or key",
    "minmax(11rem, 1.6fr)",
    (incident) => mainLink(linkTo("incidents", [incident.id]), shown(incident), subjectText(incident)),
    "name",
  ),
  column(
    "Output",
    3,
    (incident) => (
      <span class="said">
        {saidLink(linkTo("incidents", [incident.id]), saidText(incident.summary, incident.severity))}
        <NotifiedMark incident={incident} />
      </span>
    ),
    "output",
  ),
  ...(time === RESOLVED ? [took] : []),
  column(time, "6.75rem", ({ opened_at, resolved_at }) => <Time at={resolved_at ?? opened_at} />, "time"),
]

const RESOLVED = "Resolved"

/** Columns of incidents that keys, the bar and the boxes act on. */
const useColumns = (
  time: string,
  ...lists: readonly [Listed<HeldIncident>, ...ReadonlyArray<Listed<HeldIncident>>]
): Columns<HeldIncident> => {
  const idOf = ({ id }: HeldIncident) => id
  const selecting = useSelecting({ isOffered: mayRespond, lists, idOf, nameOf, does: carryOut })
  const shared = sharedTitles(
    lists.flatMap(({ pages }) => itemsOf(pages)),
    subjectText,
  )
  return useMemo(
    () => [selecting, ...columnsOf(time, nameAmong(shared, subjectText))],
    [selecting, shared, time],
  )
}

interface ToolsProps {
  readonly children: ComponentChildren
  readonly queries: ReadonlyArray<Query>
}

const Tools = ({ children, queries }: ToolsProps) => {
  return (
    <div class="tools">
      <div class="filters">
        <FilterField what="title, output, agent or check" />
        {children}
        <Export name="incidents" lists={queries.map((query) => foundOf(query, MOST))} />
      </div>
      <IncidentBar />
    </div>
  )
}

const isFiltered = (): boolean => {
  const { filter = "", severity = "", from = "", to = "" } = route.value.parameters
  return filter + severity + from + to !== ""
}

const NothingMatches = () => <Empty title="No incident matches">Change the filter to see the others.</Empty>

/** Without an open incident: nothing is wrong, or nothing was reported yet. */
const NothingOpen = () => {
  const counts = summary.value
  const more = mayAdminister.value && <a href={linkTo("start")}>Watch more, or choose where alerts go</a>
  return counts !== undefined && STATES.every((state) => counts.states[state] === 0) ? (
    <Empty title="Waiting for the first results …">
      An accepted agent sends them within a minute, a sender with its first report.{" "}
      <a href={linkTo("agents")}>See the agents</a>
      {more && " · "}
      {more}
    </Empty>
  ) : (
    <Empty title="Nothing is wrong">Open incidents appear here within 2 seconds. {more}</Empty>
  )
}

type ListProps = Omit<ComponentProps<typeof Listing<HeldIncident>>, "kind" | "keyOf">

const List = (props: ListProps) => <Listing kind="incident" keyOf={({ id }) => id} {...props} />

/** The incidents that the address asks for: found by its filter, and in groups by its label. */
const foundOf = (query: Query, limit?: number) =>
  incidentsOf(
    { ...query, severity: route.value.parameters["severity"] },
    route.value.parameters["filter"] ?? "",
    limit,
  )

/** In an order of theirs, or in groups, they are read as a whole, by what the first script has not. */
const shownOf = (query: Query): List<HeldIncident> => {
  const { parameters } = route.value
  const { group = "", sort = "" } = parameters
  if (group + sort === "") return foundOf(query)
  // The service's order by status moves while many pages are read.
  const list = foundOf(sort === "" ? query : { sort: "opened_at", ...query }, MOST)
  const key = [list.key, group, sort].join()
  const read: typeof list.read = async (...asked) =>
    (await import("./otherPages.ts")).arrangedIncidents(list, parameters).read(...asked)
  return { ...list, key, read }
}

const FREE = { state: "open", acknowledged: false }
const TAKEN = { state: "open", acknowledged: true }

/** Open incidents: unacknowledged ones first, the worst of them first. */
const OpenIncidents = () => {
  const counts = summary.value
  const [readFree, readTaken] = [usePages(shownOf(FREE)), usePages(shownOf(TAKEN))]
  // Each incident is once on the page, as the later answer has it.
  const free = { ...readFree, pages: withoutMoved(readFree.pages, readTaken.pages) }
  const taken = { ...readTaken, pages: withoutMoved(readTaken.pages, readFree.pages) }
  const columns = useColumns("Opened", free, taken)
  const hasTaken = rowCount(taken.pages) > 0
  const nothing = isFiltered() ? <NothingMatches /> : <NothingOpen />
  const allTaken = <p class="lead">Each of them is acknowledged.</p>
  return (
    <>
      <Tools queries={[FREE, TAKEN]}>
        {counts !== undefined && (
          <Tally parameter="severity" counts={SEVERITIES.map((each) => [each, counts.incidents[each]])} />
        )}
      </Tools>
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
          <List
            label="Acknowledged incidents"
            columns={columns}
            isHeadless={rowCount(free.pages) > 0}
            listed={taken}
            empty={null}
          />
        </>
      )}
    </>
  )
}

const ResolvedIncidents = () => {
  const query = { state: "resolved", sort: "resolved_at", ...chosenDays() }
  const listed = usePages(shownOf(query))
  const columns = useColumns(RESOLVED, listed)
  const nothing = isFiltered() ? <NothingMatches /> : <Empty title="Nothing has resolved yet" />
  return (
    <>
      <Tools queries={[query]}>
        <Field
          label="Severity "
          options={[["", "all"], ...SEVERITIES.map((each) => [each] as const)]}
          {...parameterOf("severity")}
        />
        <Days />
      </Tools>
      <List label="Incidents" columns={columns} listed={listed} empty={nothing} />
    </>
  )
}

export const Incidents = () => {
  useReaches()
  const tab = route.value.parameters["tab"] === "resolved" ? "resolved" : "open"
  const open = summary.value?.open_incidents
  return (
    <>
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
      <ReachesNobody />
      {tab === "open" ? <OpenIncidents /> : <ResolvedIncidents />}
    </>
  )
}
