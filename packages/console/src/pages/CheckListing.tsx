import type { Agent, ExpectedCheckState } from "@tocsin/client"
import type { ComponentChildren } from "preact"
import { useMemo } from "preact/hooks"
import { saidText } from "../format/saidText.ts"
import { MOST_GROUPED } from "../state/groupedBy.ts"
import { listOf, MOST, readAll } from "../state/lists.ts"
import { idOfCheck, nameAmong, sharedTitles } from "../state/names.ts"
import { itemsOf } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { mayRespond } from "../state/session.ts"
import { type Column, column, type Columns, Listing, width } from "../view/Listing.tsx"
import { mainLink } from "../view/rowLinks.tsx"
import { CheckMark, Labels, Muted, mutedText, Time, withoutTitle } from "../view/states.tsx"
import { SmallLine } from "../view/SmallLine.tsx"
import { StatusStrip, StripReader } from "../view/StatusStrip.tsx"
import { lastText } from "./checkCells.tsx"
import { keptMap, type Listed } from "../view/usePages.ts"

/** The agents that are stale or dead: their checks stand as last heard. */
export const { useCurrent: useSilent, useOf: useSilence } = keptMap<Agent["status"]>(
  "silent agents",
  ["agents"],
  async () => {
    const readThose = (status: string) =>
      readAll(listOf<Agent>("ops/v1/agents", { status }, MOST), { most: MOST_GROUPED })
    const agents = [...(await readThose("dead")), ...(await readThose("stale"))]
    return agents.map(({ agent_id, status }) => [agent_id, status] as const)
  },
)

const State = (check: ExpectedCheckState) => (
  <CheckMark {...check} isSilent={useSilence(check.agent_id) !== undefined} />
)

/** The pill of a row: that its agent is silent, or else when it must report, and what it last was if it is late. */
const Expectation = (check: ExpectedCheckState) => {
  const { agent_id, expected_at } = check
  const silence = useSilence(agent_id)
  if (silence !== undefined)
    return (
      <em class={`is-${silence}`} title={`${agent_id} is ${silence}: its checks stand as last heard`}>
        agent {silence}
      </em>
    )
  // There is no room for both, and what is silenced need not hurry.
  return expected_at === null || (mutedText(check) !== undefined && check.state !== "late") ? null : (
    <em class="due">
      due <Time at={expected_at} />
      {check.state === "late" && `, ${lastText(check)}`}
    </em>
  )
}

const columnsBy = (
  nameOf: typeof idOfCheck,
  shared: string,
  room: ReturnType<typeof width.peek>,
): Columns<ExpectedCheckState> => [
  column("State", "5.5rem", (check) => <State {...check} />, "state"),
  column(
    "Name",
    "minmax(11rem, 1.8fr)",
    (check) =>
      mainLink(
        linkTo("checks", [check.agent_id, check.check_id]),
        nameAmong(shared, nameOf)(check),
        nameOf(check),
      ),
    "name",
  ),
  // The output has the room that its labels leave.
  column(
    "Last output",
    2,
    (check) => (
      <span class="said">
        <span class="subject">{saidText(check.summary, check.status)}</span>
        <span class="notes">
          <Muted {...check} />
          <Expectation {...check} />
          <Labels labels={withoutTitle(check.labels)} />
        </span>
      </span>
    ),
    "output",
  ),
  ...(room === "wide"
    ? [
        column<ExpectedCheckState>(
          "Value",
          "7rem",
          (check, hidden) => check.status !== null && <SmallLine {...check} hidden={hidden} />,
        ),
      ]
    : []),
  column(
    "24 hours",
    "7.5rem",
    (check, hidden) => check.status !== null && <StatusStrip {...check} hidden={hidden} />,
  ),
  column(
    "Last result",
    "5.75rem",
    ({ last_observed_at: at }) => (at === null ? <span>never reported</span> : <Time at={at} />),
    "last",
  ),
]

/** On the page of their agent, whose name goes without saying. */
const nameOfAgents: typeof idOfCheck = ({ check_id }) => check_id

interface CheckListingProps {
  readonly listed: Listed<ExpectedCheckState>
  /** The boxes of its rows, if they have some. */
  readonly boxes?: Column<ExpectedCheckState>
  /** Whether the page is about their agent, whose name then goes without saying. */
  readonly isOfAgent?: boolean
  readonly empty: ComponentChildren
}

export const CheckListing = ({ boxes, listed, isOfAgent = false, empty }: CheckListingProps) => {
  useSilent()
  const room = width.value
  const nameOf = isOfAgent ? nameOfAgents : idOfCheck
  const shared = useMemo(() => sharedTitles(itemsOf(listed.pages), nameOf), [listed.pages, nameOf])
  const picked = mayRespond.value ? boxes : undefined
  const columns = useMemo(
    () => [...(picked === undefined ? [] : [picked]), ...columnsBy(nameOf, shared, room)],
    [nameOf, picked, shared, room],
  )
  return (
    <>
      <StripReader />
      <Listing
        label="Checks"
        kind={picked === undefined ? "check" : "check picks"}
        columns={columns}
        listed={listed}
        keyOf={idOfCheck}
        empty={empty}
      />
    </>
  )
}
