import type { ReadonlySignal } from "@preact/signals"
import type { HeldIncident } from "@tocsin/client"
import { useCallback } from "preact/hooks"
import { numberText } from "../format/times.ts"
import { titleOf } from "../state/incidentActs.ts"
import { holdText } from "../state/incidentStory.ts"
import { listOf } from "../state/lists.ts"
import { route, setParameters } from "../state/location.ts"
import { rowCount } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { parseSelection, selectionText, toggled } from "../state/selection.ts"
import { summary } from "../state/summary.ts"
import { Listing } from "../view/Listing.tsx"
import { Mark } from "../view/marks.tsx"
import { type Latest, NotifiedMarks, useLatest } from "../view/NotifiedMarks.tsx"
import { Empty } from "../view/states.tsx"
import { FilterField, Tabs } from "../view/Tabs.tsx"
import { Time } from "../view/Time.tsx"
import { usePages } from "../view/usePages.ts"
import { FirstRun } from "./FirstRun.tsx"
import { IncidentBar, useIncidentKeys } from "./IncidentBar.tsx"

const TABS = [
  ["open", { state: "open" }, "Nothing is wrong"],
  ["acknowledged", { state: "open", acknowledged: true }, "Nothing is acknowledged"],
  ["resolved", { state: "resolved", sort: "resolved_at" }, "Nothing has resolved yet"],
] as const

/** The agent and the check of a filter such as `web-1/disk`. */
const subjectOf = (text: string): { agent_id?: string; check_id?: string } => {
  const [agent = "", check = ""] = text.trim().split("/")
  return { ...(agent !== "" && { agent_id: agent }), ...(check !== "" && { check_id: check }) }
}

const Row = ({
  incident,
  latest,
}: {
  readonly incident: HeldIncident
  readonly latest: ReadonlySignal<Latest | undefined>
}) => {
  const selected = parseSelection(route.value.parameters["selected"])
  const { id, acknowledgement, held_by, agent_id, check_id, incident_key, state } = incident
  const isTaken = acknowledgement !== null && state === "open"
  return (
    <div class={isTaken ? "row incident taken" : "row incident"} data-id={id}>
      <input
        type="checkbox"
        aria-label={`Select ${titleOf(incident)}`}
        checked={selected.includes(id)}
        onChange={() => setParameters({ selected: selectionText(toggled(selected, id)) })}
      />
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
          <em class="taker" title={acknowledgement.note}>
            {acknowledgement.by} has it
          </em>
        )}
        {held_by
          .filter((hold) => hold !== "ack")
          .map((hold) => (
            <em key={hold} class="held">
              held: {holdText(hold)}
            </em>
          ))}
        <NotifiedMarks id={id} latest={latest} />
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
        label="Filter by agent or agent/check"
        placeholder="agent or agent/check"
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
  const listed = usePages(
    listOf<HeldIncident>("ops/v1/incidents", { ...filters, severity, ...subjectOf(filter) }),
  )
  const latest = useLatest()
  const drawRow = useCallback(
    (incident: HeldIncident) => <Row incident={incident} latest={latest} />,
    [latest],
  )
  useIncidentKeys(listed.pages)
  const isFiltered = filter !== "" || (severity ?? "") !== ""
  const counts = summary.value
  const hasAgents = counts === undefined || counts.agents_online + counts.agents_offline > 0
  if (!hasAgents && rowCount(listed.pages) === 0) return <FirstRun />
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
      <Filters />
      <IncidentBar />
      <Listing
        label="Incidents"
        listed={listed}
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty title="No incident matches">Change the filter to see the others.</Empty>
          ) : (
            <Empty title={nothing}>
              {tab === "open" && "Open incidents appear here, the worst first, within 2 seconds."}
            </Empty>
          )
        }
      >
        {drawRow}
      </Listing>
    </>
  )
}
