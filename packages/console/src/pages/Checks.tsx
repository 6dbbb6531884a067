import type { ExpectedCheckState } from "@tocsin/client"
import { numberText } from "../format/times.ts"
import { checkMatches } from "../state/agentFilter.ts"
import { listOf, searched } from "../state/lists.ts"
import { route, setParameters } from "../state/location.ts"
import { linkTo, routeText, withParameters } from "../state/Route.ts"
import { summary } from "../state/summary.ts"
import { Listing } from "../view/Listing.tsx"
import { Mark } from "../view/marks.tsx"
import { Empty } from "../view/states.tsx"
import { FilterField, Tabs } from "../view/Tabs.tsx"
import { Time } from "../view/Time.tsx"
import { usePages } from "../view/usePages.ts"
import { Labels } from "./AgentFacts.tsx"
import { CheckGrid } from "./CheckGrid.tsx"

type Check = ExpectedCheckState

/** A check in a list. */
export const CheckRow = ({ check }: { readonly check: Check }) => (
  <div class="row check" data-id={`${check.agent_id}/${check.check_id}`}>
    <Mark state={check.status ?? "unknown"} />
    <a class="main" href={linkTo("checks", [check.agent_id, check.check_id])}>
      {check.agent_id}/{check.check_id}
    </a>
    <span class="subject">{check.summary}</span>
    <span class="notes">
      <Labels labels={check.labels} />
      {check.is_overdue && <em class="taker">overdue</em>}
      {!check.is_overdue && check.expected_at !== null && (
        <em>
          due <Time at={check.expected_at} />
        </em>
      )}
    </span>
    {check.last_observed_at === null ? <span>never reported</span> : <Time at={check.last_observed_at} />}
  </div>
)

const VIEWS = [
  ["list", "List"],
  ["grid", "Grid"],
] as const

const STATES = ["critical", "unknown", "warning", "ok"] as const

/** The exact agent of a filter such as `web-1/`, which the API looks up itself. */
const agentOf = (text: string): string | undefined => /^([A-Za-z0-9._:-]{1,128})\/$/.exec(text.trim())?.[1]

const Filters = () => {
  const { filter = "", status = "", stale = "" } = route.value.parameters
  return (
    <div class="filters">
      <FilterField
        label="Search by agent, check or output"
        placeholder="agent, check or output"
        value={filter}
        onText={(text) => setParameters({ filter: text })}
      />
      <label>
        <span class="unseen">State</span>
        <select value={status} onChange={(event) => setParameters({ status: event.currentTarget.value })}>
          <option value="">every state</option>
          {STATES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label class="choice">
        <input
          type="checkbox"
          checked={stale === "yes"}
          onChange={(event) => setParameters({ stale: event.currentTarget.checked ? "yes" : "" })}
        />
        overdue only
      </label>
    </div>
  )
}

const CheckList = () => {
  const { filter = "", status = "", stale = "" } = route.value.parameters
  const agent = agentOf(filter)
  const query = { agent_id: agent, is_overdue: stale === "yes" ? true : undefined }
  const words = agent === undefined ? filter : ""
  const matches = checkMatches(words)
  const listed = usePages(
    words.trim() === "" && status === ""
      ? listOf<Check>("ops/v1/checks", query)
      : searched<Check>(
          "ops/v1/checks",
          query,
          `${status} ${words}`,
          (check) => (status === "" || check.status === status) && matches(check),
        ),
  )
  return (
    <Listing
      label="Checks"
      listed={listed}
      keyOf={({ agent_id, check_id }) => `${agent_id}/${check_id}`}
      empty={
        filter + status + stale === "" ? (
          <Empty title="No checks yet">Each check appears with its first result.</Empty>
        ) : (
          <Empty title="No check matches">Change the filters to see the others.</Empty>
        )
      }
    >
      {(check) => <CheckRow check={check} />}
    </Listing>
  )
}

/** The state of every check: as a list, or as a grid of agents and their checks. */
export const Checks = () => {
  const { view = "list" } = route.value.parameters
  const counts = summary.value
  return (
    <>
      <h1>Checks</h1>
      <Tabs label="How to show checks" parameter="view" current={view} tabs={VIEWS}>
        {counts !== undefined && (
          <span class="total tally">
            {STATES.map((state) => (
              <a key={state} href={routeText(withParameters(route.value, { status: state }))}>
                <Mark state={state} /> {numberText(counts[`checks_${state}`])}
              </a>
            ))}
          </span>
        )}
      </Tabs>
      <Filters />
      {view === "grid" ? <CheckGrid /> : <CheckList />}
    </>
  )
}
