import type { ExpectedCheckState } from "@tocsin/client"
import { useMemo } from "preact/hooks"
import { numberText } from "../format/times.ts"
import { linkTo, routeText, withParameters } from "../state/Route.ts"
import {
  type AgentChecks,
  checkMatches,
  type List,
  listOf,
  MOST,
  readAgents,
  search,
  searched,
  withLast,
} from "../state/lists.ts"
import { route, setParameters } from "../state/location.ts"
import { summary } from "../state/summary.ts"
import { Listing } from "../view/Listing.tsx"
import { Mark, Time } from "../view/marks.tsx"
import { FilterField, Tabs } from "../view/navigation.tsx"
import { Empty } from "../view/states.tsx"
import { usePages } from "../view/usePages.ts"
import { Labels } from "./AgentFacts.tsx"

/** As many as fit on a wide screen. */
const MOST_CELLS = 12
const WORST = ["critical", "unknown", "warning"]

const rankOf = ({ status, is_overdue }: Check): number => {
  const at = WORST.indexOf(status ?? "")
  if (at !== -1) return at
  return WORST.length + (is_overdue ? 0 : 1)
}

/** The checks of a row, in the order of their names; if there are too many, the worst of them. */
const cellsOf = (checks: ReadonlyArray<Check>): ReadonlyArray<Check> =>
  checks.length <= MOST_CELLS ? checks : checks.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, MOST_CELLS)

const Cell = ({
  check: { agent_id, check_id, status, is_overdue, summary: text },
}: {
  readonly check: Check
}) => {
  const word = is_overdue ? `${status ?? "never reported"}, overdue` : (status ?? "never reported")
  return (
    <a
      class={`cell is-${status ?? "unknown"}`}
      href={linkTo("checks", [agent_id, check_id])}
      title={`${check_id}: ${word}${text === undefined ? "" : `\n${text.slice(0, 200)}`}`}
      aria-label={`${check_id}: ${word}`}
    >
      {check_id}
    </a>
  )
}

const drawAgent = ({ agent_id, checks }: AgentChecks<Check>) => (
  <div class="row grid" data-id={agent_id}>
    <a class="main" href={linkTo("agents", [agent_id])}>
      {agent_id}
    </a>
    <span class="cells">
      {cellsOf(checks).map((check) => (
        <Cell key={check.check_id} check={check} />
      ))}
    </span>
    {checks.length > MOST_CELLS && (
      <a class="more" href={linkTo("checks", [], { filter: `${agent_id}/` })}>
        {numberText(checks.length - MOST_CELLS)} more
      </a>
    )}
  </div>
)

const agentsOf = (
  query: { readonly is_overdue?: true },
  words: string,
  status: string,
): List<AgentChecks<Check>> => {
  const list = listOf<Check>("ops/v1/checks", query, MOST)
  const hasWords = checkMatches(words)
  const readChecks = withLast(list.read, () => performance.now())
  const read = (cursor: string | undefined) => readAgents(readChecks, cursor)
  const isWanted = (check: Check) => hasWords(check) && (status === "" || check.status === status)
  return {
    ...list,
    key: `grid ${list.key} ${status} ${words}`,
    isSlow: true,
    read: (cursor) =>
      words.trim() === "" && status === ""
        ? read(cursor)
        : search(read, ({ checks }) => checks.some(isWanted), cursor),
  }
}

/** Every agent in a row, with the state of each of its checks. */
const CheckGrid = () => {
  const { filter = "", status = "", overdue = "" } = route.value.parameters
  const listed = usePages(
    useMemo(
      () => agentsOf(overdue === "yes" ? { is_overdue: true } : {}, filter, status),
      [overdue, filter, status],
    ),
  )
  return (
    <Listing
      label="Agents and their checks"
      listed={listed}
      keyOf={({ agent_id }) => agent_id}
      empty={<Empty title="No checks here">Each check appears with its first result.</Empty>}
    >
      {drawAgent}
    </Listing>
  )
}

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
  const { filter = "", status = "", overdue = "" } = route.value.parameters
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
          checked={overdue === "yes"}
          onChange={(event) => setParameters({ overdue: event.currentTarget.checked ? "yes" : "" })}
        />
        overdue only
      </label>
    </div>
  )
}

const CheckList = () => {
  const { filter = "", status = "", overdue = "" } = route.value.parameters
  const agent = agentOf(filter)
  const query = { agent_id: agent, is_overdue: overdue === "yes" ? true : undefined }
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
        filter + status + overdue === "" ? (
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
