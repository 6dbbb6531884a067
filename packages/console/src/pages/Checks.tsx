import type { ExpectedCheckState } from "@tocsin/client"
import { useCallback } from "preact/hooks"
import { numberText } from "../format/times.ts"
import { linkTo } from "../state/Route.ts"
import { type AgentRow, FEW_CHECKS, gridOf } from "../state/checkGrid.ts"
import { listOf } from "../state/lists.ts"
import { route, setParameters } from "../state/location.ts"
import { summary } from "../state/summary.ts"
import { Listing, width } from "../view/Listing.tsx"
import { Mark, Time } from "../view/marks.tsx"
import { BeginAt, FilterField, Tabs, Tally } from "../view/navigation.tsx"
import { Empty } from "../view/states.tsx"
import { usePages } from "../view/usePages.ts"
import { Labels } from "./AgentFacts.tsx"

type Cell = AgentRow["failing"][number]

const wordOf = ({ is_overdue, status }: Cell): string =>
  is_overdue ? `${status ?? "never reported"}, overdue` : (status ?? "never reported")

const drawCell = (check: Cell) => {
  const { agent_id, check_id, status, summary: text } = check
  return (
    <a
      key={check_id}
      class={`cell is-${status ?? "pending"}`}
      href={linkTo("checks", [agent_id, check_id])}
      title={`${check_id}: ${wordOf(check)}${text === undefined ? "" : `\n${text.slice(0, 200)}`}`}
      aria-label={`${check_id}: ${wordOf(check)}`}
    >
      <span>{check_id}</span>
    </a>
  )
}

/** As many cells as a row of that width has room for. */
const MOST_CELLS = { narrow: 4, medium: 3, wide: 6 }

const drawAgent = ({ agent_id, failing, ok }: AgentRow, most: number) => {
  const filter = (status: string) => linkTo("checks", [], { filter: `${agent_id}/`, status })
  return (
    <div class="row grid" data-id={agent_id}>
      <a class="main" href={linkTo("agents", [agent_id])}>
        {agent_id}
      </a>
      <span class="cells">{failing.slice(0, most).map(drawCell)}</span>
      <span class="more">
        {failing.length > most && <a href={filter("not_ok")}>{numberText(failing.length - most)} more</a>}
      </span>
      <a class="ok" href={filter(ok === undefined ? "" : "ok")}>
        {ok === undefined ? "all checks" : `${numberText(ok)} ok`}
      </a>
    </div>
  )
}

/** Every agent in a row with its checks that are not well; the others are a count. */
const CheckGrid = () => {
  const { overdue = "" } = route.value.parameters
  const counts = summary.value
  const isFew =
    overdue === "yes" ||
    (counts !== undefined && STATES.reduce((sum, state) => sum + counts[`checks_${state}`], 0) <= FEW_CHECKS)
  const query = queryOf(route.value.parameters)
  const listed = usePages(gridOf(query, isFew))
  const most = MOST_CELLS[width.value]
  const draw = useCallback((row: AgentRow) => drawAgent(row, most), [most])
  return (
    <Listing
      label="Agents and their checks"
      kind="grid"
      heads={["Agent", "Not ok", "", "Ok"]}
      listed={listed}
      keyOf={({ key }) => key}
      size="grid"
      empty={
        isFew ? (
          <Empty title="No checks here">Each check appears with its first result.</Empty>
        ) : (
          <Empty title="Every check is ok" />
        )
      }
    >
      {draw}
    </Listing>
  )
}

type Check = ExpectedCheckState

export const CHECK_HEADS = ["State", "Check", "Last output", "Labels and expectation", "Changed"]

/** A check in a list. */
export const CheckRow = ({
  check,
  isOfAgent = false,
}: {
  readonly check: Check
  /** Whether the page is about its agent, whose name then goes without saying. */
  readonly isOfAgent?: boolean
}) => (
  <div class="row check" data-id={`${check.agent_id}/${check.check_id}`}>
    <Mark state={check.status ?? "unknown"} />
    <a class="main" href={linkTo("checks", [check.agent_id, check.check_id])}>
      {isOfAgent ? check.check_id : `${check.agent_id}/${check.check_id}`}
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

/** The query of a filter. `web-1/` stands for exactly this agent. */
const queryOf = ({ filter = "", from, overdue = "", status = "" }: Readonly<Record<string, string>>) => {
  const [, agent_id] = /^([A-Za-z0-9._:-]{1,128})\/$/.exec(filter.trim()) ?? []
  return {
    agent_id,
    search: agent_id === undefined ? filter.trim() : undefined,
    status: status === "" ? undefined : status,
    from_agent: from,
    is_overdue: overdue === "yes" ? true : undefined,
  }
}

const Filters = () => {
  const { filter = "", overdue = "" } = route.value.parameters
  return (
    <div class="filters">
      <FilterField
        label="Search by agent, check or output"
        placeholder="agent, check or output"
        value={filter}
        onText={(text) => setParameters({ filter: text })}
      />
      <BeginAt />
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
  const { parameters } = route.value
  const { filter = "", status = "", overdue = "" } = parameters
  const listed = usePages(listOf<Check>("ops/v1/checks", queryOf(parameters)))
  return (
    <Listing
      label="Checks"
      kind="check"
      heads={CHECK_HEADS}
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
          <Tally parameter="status" counts={STATES.map((state) => [state, counts[`checks_${state}`]])} />
        )}
      </Tabs>
      <Filters />
      {view === "grid" ? <CheckGrid /> : <CheckList />}
    </>
  )
}
