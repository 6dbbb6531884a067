import type { ReadonlySignal } from "@preact/signals"
import type { HeldIncident } from "@tocsin/client"
import { useCallback } from "preact/hooks"
import { numberText } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { titleOf } from "../state/incidentActions.ts"
import { untilText } from "../state/incidentTimeline.ts"
import { incidentsOf } from "../state/incidentList.ts"
import { route, setParameters } from "../state/location.ts"
import { itemsOf, rowCount } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { mayRespond } from "../state/session.ts"
import { summary } from "../state/summary.ts"
import { Listing } from "../view/Listing.tsx"
import { Mark } from "../view/marks.tsx"
import { type Latest, NotifiedMarks, useLatest } from "../view/NotifiedMarks.tsx"
import { Empty } from "../view/states.tsx"
import { FilterField, Tabs } from "../view/Tabs.tsx"
import { Time } from "../view/Time.tsx"
import { usePages } from "../view/usePages.ts"
import { type Pick, selectedIds, usePick } from "../view/usePick.ts"
import { FirstRun, NothingOpen } from "./FirstRun.tsx"
import { IncidentBar, useIncidentKeys } from "./IncidentBar.tsx"

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

/** What is wrong: open incidents first, worst first. */
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
