import type { ExpectedCheckState } from "@tocsin/client"
import { useMemo } from "preact/hooks"
import { numberText } from "../format/times.ts"
import { type AgentChecks, readAgents, withLast } from "../state/byAgent.ts"
import { checkMatches } from "../state/agentFilter.ts"
import { type List, listOf, MOST } from "../state/lists.ts"
import { route } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { search } from "../state/search.ts"
import { Listing } from "../view/Listing.tsx"
import { Empty } from "../view/states.tsx"
import { usePages } from "../view/usePages.ts"

type Check = ExpectedCheckState

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

const Cell = ({ check: { agent_id, check_id, status, is_overdue, summary } }: { readonly check: Check }) => {
  const word = is_overdue ? `${status ?? "never reported"}, overdue` : (status ?? "never reported")
  return (
    <a
      class={`cell is-${status ?? "unknown"}`}
      href={linkTo("checks", [agent_id, check_id])}
      title={`${check_id}: ${word}${summary === undefined ? "" : `\n${summary.slice(0, 200)}`}`}
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
export const CheckGrid = () => {
  const { filter = "", status = "", stale = "" } = route.value.parameters
  const listed = usePages(
    useMemo(
      () => agentsOf(stale === "yes" ? { is_overdue: true } : {}, filter, status),
      [stale, filter, status],
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
