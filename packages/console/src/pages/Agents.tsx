import type { Agent } from "@tocsin/client"
import { numberText } from "../format/times.ts"
import { route, setParameters } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { summary } from "../state/summary.ts"
import { Listing } from "../view/Listing.tsx"
import { Empty } from "../view/states.tsx"
import { BeginAt, FilterField, Tabs } from "../view/navigation.tsx"
import { Mark, Time } from "../view/marks.tsx"
import { usePages } from "../view/usePages.ts"
import { listOf } from "../state/lists.ts"
import { Labels } from "./AgentFacts.tsx"

const TABS = [
  ["all", "All"],
  ["alive", "Alive"],
  ["stale", "Stale"],
  ["dead", "Dead"],
  ["waiting", "Waiting"],
] as const

const Row = ({ agent }: { readonly agent: Agent }) => (
  <div class="row agent" data-id={agent.agent_id}>
    <Mark state={agent.status} />
    <a class="main" href={linkTo("agents", [agent.agent_id])}>
      {agent.agent_id}
    </a>
    <span class="subject">{agent.hostname}</span>
    <span class="notes">
      {agent.admission_state === "pending" && <em class="taker">waits for admission</em>}
      {agent.rotation_pending && <em class="taker">a new key waits</em>}
      <Labels labels={agent.labels} />
    </span>
    <Time at={agent.last_seen_at} />
  </div>
)

/** Every agent, searched by its ID, its host and its labels. */
export const Agents = () => {
  const { filter = "", from, tab = "all" } = route.value.parameters
  const isSearch = filter.trim() !== "" || tab !== "all"
  const listed = usePages(
    listOf<Agent>("ops/v1/agents", {
      search: filter.trim(),
      from_agent: from,
      status: tab === "all" || tab === "waiting" ? undefined : tab,
      is_waiting: tab === "waiting" ? true : undefined,
    }),
  )
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
        <FilterField
          label="Search by ID, host or label"
          placeholder="ID, host or label"
          value={filter}
          onText={(text) => setParameters({ filter: text })}
        />
        <BeginAt />
      </div>
      <Listing
        label="Agents"
        kind="agent"
        heads={["State", "Agent", "Host", "Labels", "Last seen"]}
        listed={listed}
        keyOf={({ agent_id }) => agent_id}
        empty={
          isSearch ? (
            <Empty title="No agent matches">Change the search to see the others.</Empty>
          ) : (
            <Empty title="No agents yet">
              <a href={linkTo("incidents")}>Bring the first one</a>
            </Empty>
          )
        }
      >
        {(agent) => <Row agent={agent} />}
      </Listing>
    </>
  )
}
