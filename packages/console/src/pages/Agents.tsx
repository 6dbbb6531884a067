import type { Agent } from "@tocsin/client"
import { numberText } from "../format/times.ts"
import { listOf } from "../state/lists.ts"
import { route } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { summary } from "../state/summary.ts"
import { Listing } from "../view/Listing.tsx"
import { Empty, Labels, Mark, Time } from "../view/states.tsx"
import { BeginAt, FilterField, Tabs } from "../view/navigation.tsx"
import { usePages } from "../view/usePages.ts"

const TABS = [
  ["all", "All", {}],
  ["alive", "Alive", { status: "alive" }],
  ["stale", "Stale", { status: "stale" }],
  ["dead", "Dead", { status: "dead" }],
  ["waiting", "Waiting", { is_waiting: true }],
] as const

const drawAgent = (agent: Agent) => (
  <>
    <Mark state={agent.status} />
    <a class="main" href={linkTo("agents", [agent.agent_id])}>
      {agent.agent_id}
    </a>
    <span class="subject">{agent.hostname}</span>
    <span class="notes">
      {agent.admission_state === "pending" && <em class="is-taken">waits for admission</em>}
      {agent.rotation_pending && <em class="is-taken">a new key waits</em>}
      <Labels labels={agent.labels} />
    </span>
    <Time at={agent.last_seen_at} />
  </>
)

export const Agents = () => {
  const { filter = "", from, tab: wanted } = route.value.parameters
  const [tab, , query] = TABS.find(([name]) => name === wanted) ?? TABS[0]
  const search = filter.trim()
  const listed = usePages(listOf<Agent>("ops/v1/agents", { search, from_agent: from, ...query }))
  const counts = summary.value
  return (
    <>
      <h1>Agents</h1>
      <Tabs label="Which agents" parameter="tab" current={tab} tabs={TABS}>
        {counts !== undefined && (
          <span class="total">
            {numberText(counts.agents_online)} alive, {numberText(counts.agents_offline)} stale or dead
          </span>
        )}
      </Tabs>
      <div class="filters">
        <FilterField what="ID, host or label" />
        <BeginAt />
      </div>
      <Listing
        label="Agents"
        kind="agent"
        heads={["State", "Agent", "Host", "Labels", "Last seen"]}
        listed={listed}
        keyOf={({ agent_id }) => agent_id}
        empty={
          search !== "" || tab !== "all" ? (
            <Empty title="No agent matches">Change the search to see the others.</Empty>
          ) : (
            <Empty title="No agents yet">
              <a href={linkTo("incidents")}>Bring the first one</a>
            </Empty>
          )
        }
      >
        {drawAgent}
      </Listing>
    </>
  )
}
