import type { ReadonlySignal } from "@preact/signals"
import type { HeldIncident } from "@tocsin/client"
import { useCallback } from "preact/hooks"
import type { Query } from "../api/request.ts"
import { numberText } from "../format/times.ts"
import { itemsOf, rowCount } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { now } from "../state/clock.ts"
import { acknowledge, titleOf } from "../state/incidentActions.ts"
import { untilText } from "../state/incidentTimeline.ts"
import { focusedId, go, route, setParameters } from "../state/location.ts"
import { exactFirst, incidentMatches, type List, listOf, MOST, searched } from "../state/lists.ts"
import { mayRespond } from "../state/session.ts"
import { summary } from "../state/summary.ts"
import { act, type Message } from "../state/useAction.ts"
import { ActionButton } from "../view/buttons.tsx"
import { useKeys } from "../view/Keyboard.tsx"
import { Listing } from "../view/Listing.tsx"
import { type Latest, NotifiedMarks, useLatest } from "../view/NotifiedMarks.tsx"
import { FilterField, Tabs } from "../view/navigation.tsx"
import { Mark, Time } from "../view/marks.tsx"
import { Empty } from "../view/states.tsx"
import { usePages } from "../view/usePages.ts"
import { type Selection, selectionText } from "../state/selection.ts"
import { type Pick, select, selectedIds, usePick } from "../view/usePick.ts"
import { FirstRun, NothingOpen } from "./FirstRun.tsx"

const silence = (ids: Selection): void => go(linkTo("silences", [], { incidents: selectionText(ids) }))

/** Acknowledges incidents of the list, and selects them no longer. */
const acknowledgeAll = async (ids: Selection): Promise<Message | undefined> => {
  const done = await acknowledge(ids)
  if (done !== undefined) select([])
  return done
}

/** Actions on the selected incidents. */
const IncidentBar = () => {
  const selected = selectedIds()
  if (selected.length === 0 || !mayRespond.value) return null
  return (
    <div class="bar">
      <span role="status">{numberText(selected.length)} selected</span>
      <ActionButton kind="main" does={() => acknowledgeAll(selected)}>
        Acknowledge
      </ActionButton>
      <button type="button" class="quiet" onClick={() => silence(selected)}>
        Silence
      </button>
      <button type="button" class="quiet" onClick={() => select([])}>
        Clear
      </button>
    </div>
  )
}

/** The keys of the list of incidents. */
const useIncidentKeys = (pick: Pick): void => {
  useKeys((command) => {
    const selected = selectedIds()
    const id = focusedId()
    const chosen = selected.length > 0 ? selected : id === undefined ? [] : [id]
    if (command === "back" && selected.length > 0) select([])
    if (id !== undefined && mayRespond.value && (command === "select" || command === "selectRange"))
      pick(id, command === "selectRange")
    if (command === "explain" && id !== undefined) go(linkTo("incidents", [id], { focus: "explain" }))
    if (chosen.length === 0 || !mayRespond.value) return
    if (command === "acknowledge") void act(() => acknowledgeAll(chosen))
    if (command === "silence") silence(chosen)
    if (command === "note" && id !== undefined) go(linkTo("incidents", [id], { focus: "note" }))
  })
}

const PATH = "ops/v1/incidents"

/** The agent of a filter such as `web-1`, `web-1/` or `web-1/disk`, and what follows it. */
const subjectOf = (text: string) => {
  const [, agent_id, slash, check_id] = /^([\w.:-]{1,128})(\/(\S*))?$/.exec(text.trim()) ?? []
  if (agent_id === undefined) return undefined
  const subject = { agent_id, check_id: check_id === "" ? undefined : check_id }
  return { subject, isOnly: slash !== undefined }
}

/**
 * The incidents that a filter finds: first those with a member of exactly this agent or check, then
 * those that have its words. After `web-1/` and `web-1/disk` the others follow only if there is none.
 * `isSlow` if a search takes many requests.
 */
const incidentsOf = (query: Query, filter: string, isSlow: boolean): List<HeldIncident> => {
  if (filter.trim() === "") return listOf<HeldIncident>(PATH, query)
  const hasWords = incidentMatches(filter)
  const searchFor = (matches: (incident: HeldIncident) => boolean): List<HeldIncident> => ({
    ...searched(PATH, query, filter, matches),
    isSlow,
  })
  const words = searchFor(hasWords)
  const exactly = subjectOf(filter)
  if (exactly === undefined) return words
  const { subject, isOnly } = exactly
  const exact = { ...query, ...subject }
  const readOthers = async (cursor: string | undefined) => {
    const { items } = await listOf<HeldIncident>(PATH, exact, MOST).read(undefined)
    const ids = new Set(items.map(({ id }) => id))
    // Beyond a page of them, the exact ones are known by their agent.
    const isOther = ({ id, agent_id }: HeldIncident) =>
      ids.size === 0 || (!ids.has(id) && agent_id !== subject.agent_id)
    return await searchFor((incident) => hasWords(incident) && isOther(incident)).read(cursor)
  }
  return { ...words, read: exactFirst(listOf<HeldIncident>(PATH, exact).read, readOthers, isOnly) }
}

const TABS = [
  ["open", { state: "open" }, ""],
  ["acknowledged", { state: "open", acknowledged: true }, "Nothing is acknowledged"],
  ["resolved", { state: "resolved", sort: "resolved_at" }, "Nothing has resolved yet"],
] as const

/** Of so many, a search is read again with each change; of more, or of the past, every few seconds. */
const FEW = 1_000

const Row = ({
  incident,
  pick,
  latest,
}: {
  readonly incident: HeldIncident
  readonly pick: Pick
  readonly latest: ReadonlySignal<Latest | undefined>
}) => {
  const { id, acknowledgement, held_by, agent_id, check_id, incident_key, state } = incident
  const isTaken = acknowledgement !== null && state === "open"
  return (
    <div class={isTaken ? "row incident taken" : "row incident"} data-id={id}>
      {mayRespond.value ? (
        <input
          type="checkbox"
          aria-label={`Select ${titleOf(incident)}`}
          checked={selectedIds().includes(id)}
          onClick={(event) => pick(id, event.shiftKey)}
        />
      ) : (
        <i />
      )}
      <Mark state={incident.severity} />
      <a class="main" href={linkTo("incidents", [id])}>
        {titleOf(incident)}
      </a>
      <span class="subject">
        {agent_id === undefined || check_id === undefined || check_id === ""
          ? incident_key
          : `${agent_id}/${check_id}`}
      </span>
      <span class="notes">
        {isTaken && (
          <em
            class="taker"
            title={`${acknowledgement.by} has it${untilText(acknowledgement.until, now.peek())}${acknowledgement.note === undefined ? "" : `: ${acknowledgement.note}`}`}
          >
            {acknowledgement.by} has it
          </em>
        )}
        <NotifiedMarks id={id} heldBy={held_by} latest={latest} />
      </span>
      <Time at={incident.resolved_at ?? incident.opened_at} />
    </div>
  )
}

const Filters = () => {
  const { severity = "", filter = "" } = route.value.parameters
  return (
    <div class="filters">
      <FilterField
        label="Search by summary, agent or check"
        placeholder="summary, agent or check"
        value={filter}
        onText={(text) => setParameters({ filter: text, selected: "" })}
      />
      <label>
        <span class="unseen">Severity</span>
        <select
          value={severity}
          onChange={(event) => setParameters({ severity: event.currentTarget.value, selected: "" })}
        >
          <option value="">every severity</option>
          <option>critical</option>
          <option>unknown</option>
          <option>warning</option>
        </select>
      </label>
    </div>
  )
}

/** The list of incidents: open ones first, worst first. */
export const Incidents = () => {
  const { tab: wanted, severity, filter = "" } = route.value.parameters
  const [tab, filters, nothing] = TABS.find(([name]) => name === wanted) ?? TABS[0]
  const isSlow = tab === "resolved" || (summary.value?.open_incidents ?? 0) > FEW
  const listed = usePages(incidentsOf({ ...filters, severity }, filter, isSlow))
  const pick = usePick(() => itemsOf(listed.pages).map(({ id }) => id))
  const latest = useLatest()
  const drawRow = useCallback(
    (incident: HeldIncident) => <Row incident={incident} pick={pick} latest={latest} />,
    [latest, pick],
  )
  useIncidentKeys(pick)
  const isFiltered = filter !== "" || (severity ?? "") !== ""
  const counts = summary.value
  const hasAgents = counts === undefined || counts.agents_online + counts.agents_offline > 0
  const isFirst = !hasAgents && tab === "open" && !isFiltered && rowCount(listed.pages) === 0
  const open = counts?.open_incidents
  return (
    <>
      <h1>Incidents</h1>
      <Tabs
        label="Which incidents"
        parameter="tab"
        current={tab}
        tabs={[
          ["open", <>Open {open !== undefined && <span class="count">{numberText(open)}</span>}</>],
          ["acknowledged", "Acknowledged"],
          ["resolved", "Resolved"],
        ]}
      />
      {isFirst ? (
        <FirstRun />
      ) : (
        <>
          <div class="tools">
            <Filters />
            <IncidentBar />
          </div>
          <Listing
            label="Incidents"
            listed={listed}
            keyOf={({ id }) => id}
            empty={
              isFiltered ? (
                <Empty title="No incident matches">Change the filter to see the others.</Empty>
              ) : nothing === "" ? (
                <NothingOpen />
              ) : (
                <Empty title={nothing} />
              )
            }
          >
            {drawRow}
          </Listing>
        </>
      )}
    </>
  )
}
