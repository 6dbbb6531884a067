import type { Agent, ExpectedCheckState } from "@tocsin/client"
import { headlineOf } from "@tocsin/contract/headline"
import type { ComponentChildren } from "preact"
import { useMemo } from "preact/hooks"
import { countText, numberText } from "../format/times.ts"
import {
  type AgentRow,
  checksOf,
  FEW_CHECKS,
  gridOf,
  groupedBy,
  listOf,
  MOST,
  MOST_GROUPED,
  readAll,
  STATUSES,
} from "../state/lists.ts"
import { route, setParameters } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { summary } from "../state/summary.ts"
import { Export } from "../view/Export.tsx"
import { Box } from "../view/forms.tsx"
import { column, type Columns, Listing, mainLink, width, windowWidth } from "../view/Listing.tsx"
import { CheckMark, Empty, Labels, Mark, Time } from "../view/states.tsx"
import { BeginAt, FilterField, GroupBy, Tabs, Tally } from "../view/navigation.tsx"
import { SmallLine } from "../view/SmallLine.tsx"
import { StatusStrip, StripReader } from "../view/StatusStrip.tsx"
import { keptMap, type Listed, usePages } from "../view/usePages.ts"

/** The agents that are stale or dead: their checks stand as last heard. */
const { useCurrent: useSilent, useOf: useSilence } = keptMap<Agent["status"]>(
  "silent agents",
  ["agents"],
  async () => {
    const readThose = (status: string) =>
      readAll(listOf<Agent>("ops/v1/agents", { status }, MOST), { most: MOST_GROUPED })
    const agents = [...(await readThose("dead")), ...(await readThose("stale"))]
    return agents.map(({ agent_id, status }) => [agent_id, status] as const)
  },
)

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
      title={`${check_id}: ${wordOf(check)}${text === undefined ? "" : `\n${headlineOf(text) ?? ""}`}`}
      aria-label={`${check_id}: ${wordOf(check)}`}
    >
      <span>{check_id}</span>
    </a>
  )
}

/** The least room of a cell, that of the other columns, and the most of all together, by the size of the root's text. */
const [CELL, OTHERS, MOST_ROOM] = [6.5, 44, 104]

const mostCells = (): number =>
  width.value === "narrow"
    ? 2
    : Math.max(3, Math.floor((Math.min(windowWidth.value, MOST_ROOM) - OTHERS) / CELL))

const linkToChecks = (agent_id: string, status: string): string =>
  linkTo("checks", [], { filter: `${agent_id}/`, status })

/** The count of checks that are ok or, where only the others were read, of those. */
const Count = ({ agent_id, failing, isAll, ok }: AgentRow) => {
  const silence = useSilence(agent_id)
  const notOk = isAll
    ? ([`${numberText(failing.length)} not ok`, "not_ok"] as const)
    : (["all checks", ""] as const)
  const [text, status] = ok === undefined ? notOk : ([`${numberText(ok)} ok`, "ok"] as const)
  return (
    <a class={ok === undefined ? "ok is-pending" : "ok"} href={linkToChecks(agent_id, status)}>
      {silence !== undefined && <Mark state={silence} />} {text}
    </a>
  )
}

const gridColumns = (most: number): Columns<AgentRow> => [
  column("Agent", "minmax(0, 12rem)", ({ agent_id }) => mainLink(linkTo("agents", [agent_id]), agent_id)),
  column("Not ok", 1, ({ failing }) => <span class="cells">{failing.slice(0, most).map(drawCell)}</span>),
  column("", "4.5rem", ({ agent_id, failing: { length } }) => (
    <span class="more">
      {length > most && <a href={linkToChecks(agent_id, "not_ok")}>{numberText(length - most)} more</a>}
    </span>
  )),
  column("Count", "9rem", (row) => <Count {...row} />),
]

const NoChecks = () => {
  const { filter = "", status = "", overdue = "", from = "" } = route.value.parameters
  return filter + status + overdue + from === "" ? (
    <Empty title="No checks yet">Each check appears with its first result.</Empty>
  ) : (
    <Empty title="No check matches">Change the filters to see the others.</Empty>
  )
}

/** Every agent in a row with its checks that are not well; the others are a count. */
const CheckGrid = () => {
  const { parameters } = route.value
  const counts = summary.value
  const isFew =
    parameters["overdue"] === "yes" ||
    (counts !== undefined &&
      STATUSES.reduce((sum, state) => sum + counts[`checks_${state}`], 0) <= FEW_CHECKS)
  const listed = usePages(groupedBy(gridOf(queryOf(parameters), isFew), parameters["group"]))
  useSilent()
  const most = mostCells()
  const columns = useMemo(() => gridColumns(most), [most])
  return (
    <Listing
      label="Agents and their checks"
      kind="grid"
      columns={columns}
      listed={listed}
      keyOf={({ key }) => key}
      size="grid"
      empty={isFew ? <NoChecks /> : <Empty title="Every check is ok" />}
    />
  )
}

const keyOf = ({ agent_id, check_id }: ExpectedCheckState) => `${agent_id}/${check_id}`

const State = ({ agent_id, status }: ExpectedCheckState) => (
  <CheckMark status={status ?? "unknown"} isSilent={useSilence(agent_id) !== undefined} />
)

/** The pill of a row: that its agent is silent, or else when it must report. */
const Expectation = ({ agent_id, expected_at, is_overdue }: ExpectedCheckState) => {
  const silence = useSilence(agent_id)
  if (silence !== undefined)
    return (
      <em class={`is-${silence}`} title={`${agent_id} is ${silence}: its checks stand as last heard`}>
        agent {silence}
      </em>
    )
  if (is_overdue) return <em class="is-stale">overdue</em>
  return expected_at === null ? null : (
    <em class="due">
      due <Time at={expected_at} />
    </em>
  )
}

const columnsBy = (
  nameOf: typeof keyOf,
  room: ReturnType<typeof width.peek>,
): Columns<ExpectedCheckState> => [
  column("State", "5.5rem", (check) => <State {...check} />),
  column("Check", "minmax(11rem, 1fr)", (check) =>
    mainLink(linkTo("checks", [check.agent_id, check.check_id]), nameOf(check)),
  ),
  // The output has the room that its labels leave.
  column("Last output", room === "wide" ? 3 : 2, (check) => (
    <span class="said">
      <span class="subject">{headlineOf(check.summary)}</span>
      <span class="notes">
        <Labels labels={check.labels} />
        <Expectation {...check} />
      </span>
    </span>
  )),
  ...(room === "wide"
    ? [
        column<ExpectedCheckState>(
          "Value",
          "7rem",
          (check, isInSight) => check.status !== null && <SmallLine {...check} isInSight={isInSight} />,
        ),
      ]
    : []),
  column(
    "24 hours",
    "7.5rem",
    (check, isInSight) => check.status !== null && <StatusStrip {...check} isInSight={isInSight} />,
  ),
  column("Last result", "5.75rem", ({ last_observed_at: at }) =>
    at === null ? <span>never reported</span> : <Time at={at} />,
  ),
]

interface CheckListingProps {
  readonly listed: Listed<ExpectedCheckState>
  /** Whether the page is about their agent, whose name then goes without saying. */
  readonly isOfAgent?: boolean
  readonly empty: ComponentChildren
}

export const CheckListing = ({ listed, isOfAgent = false, empty }: CheckListingProps) => {
  useSilent()
  const room = width.value
  const columns = useMemo(
    () => columnsBy(isOfAgent ? ({ check_id }) => check_id : keyOf, room),
    [isOfAgent, room],
  )
  return (
    <>
      <StripReader />
      <Listing label="Checks" kind="check" columns={columns} listed={listed} keyOf={keyOf} empty={empty} />
    </>
  )
}

const VIEWS = [
  ["list", "List"],
  ["grid", "Grid"],
] as const

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

const CheckList = () => {
  const { parameters } = route.value
  const { group } = parameters
  const limit = group === undefined ? undefined : MOST
  const listed = usePages(groupedBy(checksOf(queryOf(parameters), limit), group))
  return <CheckListing listed={listed} empty={<NoChecks />} />
}

export const Checks = () => {
  const { overdue = "", view = "list" } = route.value.parameters
  const counts = summary.value
  return (
    <>
      <Tabs label="How to show checks" parameter="view" current={view} tabs={VIEWS}>
        {counts !== undefined && (
          <Tally parameter="status" counts={STATUSES.map((state) => [state, counts[`checks_${state}`]])} />
        )}
      </Tabs>
      <div class="filters">
        <FilterField what="agent, check or output" />
        <BeginAt />
        <GroupBy />
        <Box
          label="overdue only"
          isOn={overdue === "yes"}
          onChange={(isOnly) => setParameters({ overdue: isOnly ? "yes" : "" })}
        />
        <Export name="checks" lists={[checksOf(queryOf(route.value.parameters), MOST)]} />
      </div>
      {counts !== undefined && counts.agents_offline > 0 && (
        <p class="lead">
          <a href={linkTo("agents")}>{countText(counts.agents_offline, "agent")}</a> stale or dead: the states
          of their checks, and the counts, are as last heard.
        </p>
      )}
      {view === "grid" ? <CheckGrid /> : <CheckList />}
    </>
  )
}
