import type { ExpectedCheckState } from "@tocsin/client"
import { headlineOf } from "@tocsin/contract/formats/headline"
import type { ComponentChildren } from "preact"
import { useMemo } from "preact/hooks"
import { countText, numberText } from "../format/times.ts"
import { arranged, placeAmong, type Sorts } from "../state/arranged.ts"
import { type AgentRow, FEW_CHECKS, gridOf } from "../state/checkGrid.ts"
import { groupedBy } from "../state/groupedBy.ts"
import { checksOf, FAILING, MOST, STATES } from "../state/lists.ts"
import { idOfCheck } from "../state/names.ts"
import { route } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { segment } from "../api/request.ts"
import { silenceAct } from "../features/silences/silenceAct.ts"
import { call, mayAdminister } from "../state/session.ts"
import { summary } from "../state/summary.ts"
import { type ManyAct, useMany } from "../view/manyActs.tsx"
import { Export } from "../view/Export.tsx"
import { column, type Columns, Listing } from "../view/Listing.tsx"
import { mainLink } from "../view/rowLinks.tsx"
import { Empty, Mark } from "../view/states.tsx"
import { BeginAt, FilterField, GroupBy, Tabs, Tally } from "../view/navigation.tsx"
import { cellsIn, drawCell, roomOfCells } from "./checkCells.tsx"
import { CheckListing, useSilence, useSilent } from "./CheckListing.tsx"
import { usePages } from "../view/usePages.ts"

const linkToChecks = (agent_id: string, state = ""): string =>
  linkTo("checks", [], { filter: `${agent_id}/`, state })

/** The count of checks that are ok or, where only the others were read, of those. */
const Count = ({ agent_id, failing, isAll, ok }: AgentRow) => {
  const silence = useSilence(agent_id)
  const others = isAll ? [`${numberText(failing.length)} in all`, FAILING] : ["all checks"]
  const [text, state] = ok === undefined ? others : [`${numberText(ok)} ok`, "ok"]
  return (
    <a class={ok === undefined ? "ok is-pending" : "ok"} href={linkToChecks(agent_id, state)}>
      {silence !== undefined && <Mark state={silence} />} {text}
    </a>
  )
}

const gridColumns = (room: number | undefined): Columns<AgentRow> => [
  column("Agent", "minmax(0, 12rem)", ({ agent_id }) => mainLink(linkTo("agents", [agent_id]), agent_id)),
  column("Failing or late", 1, ({ failing }) => (
    <span class="cells">{failing.slice(0, cellsIn(failing, room)).map(drawCell)}</span>
  )),
  column("", "4.5rem", ({ agent_id, failing }) => {
    const more = failing.length - cellsIn(failing, room)
    return (
      <span class="more">
        {more > 0 && <a href={linkToChecks(agent_id, FAILING)}>{numberText(more)} more</a>}
      </span>
    )
  }),
  column("Count", "9rem", (row) => <Count {...row} />),
]

const NoChecks = () => {
  const { filter = "", state = "", from = "" } = route.value.parameters
  return filter + state + from === "" ? (
    <Empty title="No checks yet">
      Each check appears with its first result. <a href={linkTo("start")}>Watch something</a>
    </Empty>
  ) : (
    <Empty title="No check matches">Change the filters to see the others.</Empty>
  )
}

/** Every agent in a row with its checks that are not well; the others are a count. */
const CheckGrid = () => {
  const { parameters } = route.value
  const counts = summary.value
  const isFew =
    counts !== undefined && STATES.reduce((sum, state) => sum + counts.states[state], 0) <= FEW_CHECKS
  const listed = usePages(groupedBy(gridOf(queryOf(parameters), isFew), parameters["group"]))
  useSilent()
  const room = roomOfCells()
  const columns = useMemo(() => gridColumns(room), [room])
  return (
    <>
      <Tools />
      <Listing
        label="Agents and their checks"
        kind="grid"
        columns={columns}
        listed={listed}
        keyOf={({ key }) => key}
        size="grid"
        empty={isFew ? <NoChecks /> : <Empty title="Every check is ok" />}
      />
    </>
  )
}

const placeOf = placeAmong(STATES)

const SORTS: Sorts<ExpectedCheckState> = {
  state: ({ state }) => placeOf(state ?? ""),
  name: (check) => check.title ?? idOfCheck(check),
  output: ({ summary: text }) => headlineOf(text),
  last: ({ last_observed_at: at }) => at,
}

const pathOf = ({ agent_id, check_id }: ExpectedCheckState): string =>
  `ops/v1/agents/${segment(agent_id)}/checks/${segment(check_id)}`

const MANY: ReadonlyArray<ManyAct<ExpectedCheckState>> = [
  silenceAct(({ agent_id, check_id }) => ({ agent_id, check_id })),
  {
    label: "Delete",
    did: "Deleted",
    asks: " with their history?",
    isOffered: mayAdminister,
    isDanger: true,
    does: (check) => call("DELETE", pathOf(check)),
  },
]

const SilentAgents = () => {
  const { agents_offline: count = 0 } = summary.value ?? {}
  return count === 0 ? null : (
    <span class="total" title="The states of their checks, and the counts, are as last heard">
      <a href={linkTo("agents")}>{countText(count, "agent")}</a> stale or dead
    </span>
  )
}

const VIEWS = [
  ["list", "List"],
  ["grid", "Grid"],
] as const

/** The query of a filter. `web-1/` stands for exactly this agent. */
const queryOf = ({ filter = "", from, state = "" }: Readonly<Record<string, string>>) => {
  const [, agent_id] = /^([A-Za-z0-9._:-]{1,128})\/$/.exec(filter.trim()) ?? []
  return {
    agent_id,
    search: agent_id === undefined ? filter.trim() : undefined,
    state: state === "" ? undefined : state,
    from_agent: from,
  }
}

/** The filters of both views; the acts on selected rows take their place. */
const Tools = ({ bar }: { readonly bar?: ComponentChildren }) => (
  <div class="tools">
    <div class="filters">
      <FilterField what="title, agent, check or output" />
      <BeginAt />
      <GroupBy />
      <Export name="checks" lists={[checksOf(queryOf(route.value.parameters), MOST)]} />
    </div>
    {bar}
  </div>
)

const CheckList = () => {
  const { parameters } = route.value
  const { group, sort } = parameters
  const list = (limit = group === undefined ? undefined : MOST) => checksOf(queryOf(parameters), limit)
  const sorted = arranged(list, { sorts: SORTS, sort })
  const listed = usePages(groupedBy(sorted, group))
  const [boxes, bar, form] = useMany({
    noun: "check",
    acts: MANY,
    list: sorted,
    listed,
    idOf: idOfCheck,
    nameOf: (check) => check.title ?? idOfCheck(check),
  })
  return (
    <>
      <Tools bar={bar} />
      {form}
      <CheckListing boxes={boxes} listed={listed} empty={<NoChecks />} />
    </>
  )
}

export const Checks = () => {
  const { view = "list" } = route.value.parameters
  const counts = summary.value
  return (
    <>
      <Tabs label="How to show checks" parameter="view" current={view} tabs={VIEWS}>
        <SilentAgents />
        {counts !== undefined && (
          <Tally
            parameter="state"
            counts={[...STATES, ...(counts.states.withdrawn > 0 ? (["withdrawn"] as const) : [])].map(
              (state) => [state, counts.states[state]],
            )}
          />
        )}
      </Tabs>
      {view === "grid" ? <CheckGrid /> : <CheckList />}
    </>
  )
}
