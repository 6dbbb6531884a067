import type { TitledAgent } from "@tocsin/client"
import { useMemo } from "preact/hooks"
import { arranged, placeAmong, type Sorts } from "../state/arranged.ts"
import { listOf, MOST } from "../state/lists.ts"
import { route } from "../state/location.ts"
import { nameAmong, sharedTitles } from "../state/names.ts"
import { itemsOf } from "../state/Pages.ts"
import { silenceAct } from "../features/silences/silenceAct.ts"
import { removeAgent } from "../state/agentActions.ts"
import { linkTo } from "../state/Route.ts"
import { mayAdminister, mayRespond } from "../state/session.ts"
import { type ManyAct, useMany } from "../view/manyActs.tsx"
import { agentsText, summary } from "../state/summary.ts"
import { Export } from "../view/Export.tsx"
import { column, type Columns, Listing } from "../view/Listing.tsx"
import { mainLink } from "../view/rowLinks.tsx"
import { ContactMark, ContactTime, reporting } from "../features/integrations/Contact.tsx"
import { Empty, Labels, withoutTitle } from "../view/states.tsx"
import { Outdated, useServerVersion } from "../view/Outdated.tsx"
import { TwoHosts, TwoHostsNote } from "../view/TwoHosts.tsx"
import { chosen, BeginAt, FilterField, Tabs } from "../view/navigation.tsx"
import { usePages } from "../view/usePages.ts"

const TABS = [
  ["all", "All", {}],
  ["alive", "Alive", { status: "alive" }],
  ["stale", "Stale", { status: "stale" }],
  ["dead", "Dead", { status: "dead" }],
  ["waiting", "Waiting", { is_waiting: true }],
] as const

const idOf = ({ agent_id }: TitledAgent): string => agent_id

/** The worst first, as the silent ones are. */
const placeOf = placeAmong(["dead", "stale", "alive"])

const SORTS: Sorts<TitledAgent> = {
  state: ({ status }) => placeOf(status),
  name: (agent) => agent.title ?? idOf(agent),
  host: ({ hostname }) => hostname,
  last: ({ last_seen_at: at }) => at,
}

const columnsOf = (server: string | undefined, shared: string): Columns<TitledAgent> => [
  column("State", "5.5rem", (agent) => <ContactMark {...agent} />, "state"),
  column(
    "Name",
    1.2,
    (agent) => mainLink(linkTo("agents", [agent.agent_id]), nameAmong(shared, idOf)(agent), agent.agent_id),
    "name",
  ),
  column("Host", 1, ({ hostname }) => <span class="subject">{hostname}</span>, "host"),
  column("Labels", 1.6, (agent) => (
    <span class="notes">
      {nameAmong(shared, idOf)(agent) === agent.title && <em class="label">{agent.agent_id}</em>}
      {agent.admission_state === "pending" && <em class="is-taken">waits for admission</em>}
      {agent.rotation_pending && <em class="is-taken">a new key waits</em>}
      <TwoHosts agent={agent} />
      <Outdated agent={agent} server={server} />
      <Labels labels={withoutTitle(agent.labels)} />
    </span>
  )),
  column("Last seen", "6.75rem", (agent) => <ContactTime agent={agent} />, "last"),
]

const MANY: ReadonlyArray<ManyAct<TitledAgent>> = [
  silenceAct(({ agent_id }) => ({ agent_id })),
  {
    label: "Delete",
    did: "Deleted",
    asks: " with their checks and their history?",
    isOffered: mayAdminister,
    isDanger: true,
    does: ({ agent_id }) => removeAgent(agent_id).then(() => undefined),
  },
]

export const Agents = () => {
  const { filter = "", from, sort, tab: wanted } = route.value.parameters
  const [tab, , query] = chosen(TABS, wanted)
  const search = filter.trim()
  const found = { search, from_agent: from, ...query }
  const list = (limit?: number) => listOf<TitledAgent>("ops/v1/agents", found, limit)
  const sorted = arranged(list, { sorts: SORTS, sort })
  const listed = usePages(sorted)
  const counts = summary.value
  const server = useServerVersion()
  const shared = useMemo(() => sharedTitles(itemsOf(listed.pages), idOf), [listed.pages])
  const nameOf = nameAmong(shared, idOf)
  const [boxes, bar, form] = useMany({ noun: "agent", acts: MANY, list: sorted, listed, idOf, nameOf })
  const picks = mayRespond.value
  const columns = useMemo(
    () => [...(picks ? [boxes] : []), ...columnsOf(server, shared)],
    [boxes, picks, server, shared],
  )
  reporting.useCurrent()
  return (
    <>
      <Tabs label="Which agents" parameter="tab" current={tab} tabs={TABS}>
        {counts !== undefined && <span class="total">{agentsText(counts)}</span>}
      </Tabs>
      <div class="tools">
        <div class="filters">
          <FilterField what="title, ID, host or label" />
          <BeginAt />
          <Export name="agents" lists={[list(MOST)]} />
        </div>
        {bar}
      </div>
      {form}
      <TwoHostsNote />
      <Listing
        label="Agents"
        kind={picks ? "agent picks" : "agent"}
        columns={columns}
        listed={listed}
        keyOf={idOf}
        empty={
          search !== "" || tab !== "all" ? (
            <Empty title="No agent matches">Change the search to see the others.</Empty>
          ) : (
            <Empty title="No agents yet">
              <a href={linkTo("start")}>Bring the first one</a>
            </Empty>
          )
        }
      />
    </>
  )
}
