import type { Agent, AgentBlacklistItem, Enrolment } from "@tocsin/client"
import type { FunctionComponent } from "preact"
import { useMemo } from "preact/hooks"
import { countText, momentText, relativeText } from "../format/times.ts"
import { accept, acceptAll, block, blockQuestion, endEnrolment, unblock } from "../state/agentActions.ts"
import { now } from "../state/clock.ts"
import { listOf } from "../state/lists.ts"
import { route, setParameters } from "../state/location.ts"
import { itemsOf, rowCount } from "../state/Pages.ts"
import { linkTo, type Selection } from "../state/Route.ts"
import { mayAdminister } from "../state/session.ts"
import type { Message } from "../state/useAction.ts"
import { ActionButton } from "../view/forms.tsx"
import { column, type Columns, Listing } from "../view/Listing.tsx"
import { select, SelectAllButton, selectedIds, SelectionBar, useSelecting } from "../view/selecting.tsx"
import { Empty, Mark, Time } from "../view/states.tsx"
import { usePages } from "../view/usePages.ts"
import { AddHosts } from "../features/enrolment/AddHosts.tsx"

/** A silent agent is dead once it is accepted, which notifies: the question before that, if there is one. */
const silentQuestion = (agents: ReadonlyArray<Agent>): readonly [string, string] | undefined => {
  const silent = agents.filter(
    ({ rotation_pending, status }) => status === "dead" && rotation_pending !== true,
  )
  const [first] = silent
  if (first === undefined) return undefined
  const which =
    silent.length === 1
      ? `${first.agent_id} was last seen ${relativeText(first.last_seen_at, now.peek())}`
      : `${countText(silent.length, "agent")} of them are silent, ${first.agent_id} since ${momentText(Date.parse(first.last_seen_at), now.peek())}`
  return [`${which}. Accepted, a silent agent opens an incident, and notifies.`, "Accept all the same"]
}

const WAITING: Columns<Agent> = [
  column("Agent", 1.2, ({ agent_id, rotation_pending }) => (
    <span class="inline">
      <b>{agent_id}</b>
      {rotation_pending && (
        <em class="is-taken" title="It replaces an accepted key">
          new key
        </em>
      )}
    </span>
  )),
  column("Host", 1, ({ hostname }) => <span class="subject">{hostname}</span>),
  column("Fingerprint", "9.25rem", ({ key_fingerprint }) => (
    <code class="fingerprint">{key_fingerprint}</code>
  )),
  column("Last seen", "5.75rem", ({ last_seen_at }) => <Time at={last_seen_at} />),
  column("", "9.25rem", (agent) => mayAdminister.value && <Decisions agent={agent} />),
]

const Decisions = ({ agent }: { readonly agent: Agent }) => {
  const { agent_id: id } = agent
  return (
    <span class="actions">
      <ActionButton confirms={silentQuestion([agent])} does={() => accept([id])} describes={`Accept ${id}`}>
        Accept
      </ActionButton>
      <ActionButton
        kind="danger"
        does={() => block([id])}
        confirms={blockQuestion([agent])}
        describes={`Block ${id}`}
      >
        Block
      </ActionButton>
    </span>
  )
}

const idOf = ({ agent_id }: Agent): string => agent_id

const decide =
  (decision: typeof accept, selected: Selection): (() => Promise<Message>) =>
  async () => {
    const done = await decision(selected)
    select([])
    return done
  }

const Bar = ({ agents }: { readonly agents: ReadonlyArray<Agent> }) => (
  <SelectionBar isOffered={mayAdminister}>
    {(selected) => {
      const chosen = agents.filter(({ agent_id }) => selected.includes(agent_id))
      return (
        <>
          <ActionButton kind="main" confirms={silentQuestion(chosen)} does={decide(accept, selected)}>
            Accept selected
          </ActionButton>
          <ActionButton kind="danger" does={decide(block, selected)} confirms={blockQuestion(chosen)}>
            Block selected
          </ActionButton>
        </>
      )
    }}
  </SelectionBar>
)

/** The label of hosts that run the agent: not of watches and integrations, which are agents, too. */
const OF_HOSTS = "service_agent_version="

/** The hosts that wait for no acceptance: a token admitted them, or an operator did. */
const Arrived = () => {
  const hosts = itemsOf(usePages(listOf<Agent>("ops/v1/agents", { search: OF_HOSTS })).pages)
  return hosts.length === 0 ? (
    <Empty title="Waiting for the first heartbeat …">The agent appears here as soon as it calls.</Empty>
  ) : (
    <Empty title={`${countText(hosts.length, "host")} reported`}>
      {hosts.slice(0, 5).map(({ agent_id, status }) => (
        <span key={agent_id}>
          <a href={linkTo("agents", [agent_id])}>{agent_id}</a> is {status}.{" "}
        </span>
      ))}
    </Empty>
  )
}

export const AdmissionList = ({ isFirst = false }: { readonly isFirst?: boolean }) => {
  const listed = usePages(listOf<Agent>("ops/v1/agents", { is_waiting: true }))
  const { pages } = listed
  // Those of another page of the list may have been accepted by another operator; the act says so.
  const selected = selectedIds()
  const items = itemsOf(pages)
  const selecting = useSelecting({ isOffered: mayAdminister, lists: [listed], idOf, nameOf: idOf })
  const columns = useMemo(() => [selecting, ...WAITING], [selecting])
  const isWhole = pages.next === null && items.length === rowCount(pages)
  const fresh = items.filter(({ rotation_pending }) => rotation_pending !== true).length
  const more = isWhole ? "" : "more than "
  return (
    <>
      <Bar agents={items} />
      {mayAdminister.value && selected.length === 0 && fresh > 1 && (
        <div class="bar">
          <span>
            {isWhole ? "" : "More than "}
            {countText(items.length, "key")} wait
          </span>
          <SelectAllButton />
          <ActionButton
            does={acceptAll}
            confirms={[
              [
                `Accept all ${more}${countText(fresh, "waiting agent")}?`,
                ...(fresh === items.length ? [] : ["Keys that replace an accepted one are left out."]),
                ...(silentQuestion(items)?.slice(0, 1) ?? []),
              ].join(" "),
              "Accept them all",
            ]}
          >
            Accept all
          </ActionButton>
        </div>
      )}
      <Listing
        label="Waiting keys"
        kind="waiting"
        columns={columns}
        listed={listed}
        keyOf={idOf}
        size="tall"
        empty={
          isFirst ? (
            <Arrived />
          ) : (
            <Empty title="No key is waiting">A new agent appears here with its first heartbeat.</Empty>
          )
        }
      />
    </>
  )
}

const ENROLMENTS: Columns<Enrolment> = [
  column("Admitted", 1, ({ used, uses }) => (
    <b>
      {used} of {countText(uses, "host")}
    </b>
  )),
  column("Whom", 1, ({ agent_id, created_by }) => (
    <span class="subject">
      {agent_id ?? "any agent"}, by {created_by}
    </span>
  )),
  column("State", "10rem", ({ state }) => <Mark state={state === "open" ? "active" : state} word={state} />),
  column("Ends", "6rem", ({ expires_at }) => <Time at={expires_at} />),
  column("", "6rem", ({ id }) => (
    <ActionButton kind="danger" describes="Its line then admits no more hosts" does={() => endEnrolment(id)}>
      Remove
    </ActionButton>
  )),
]

const Enrolments = () => (
  <Listing
    label="Enrolments"
    kind="blocked"
    columns={ENROLMENTS}
    listed={usePages(listOf<Enrolment>("ops/v1/enrolments", {}))}
    keyOf={({ id }) => id}
    empty={<Empty title="No enrolment line yet">“Add a host” makes one.</Empty>}
  />
)

const BLOCKED: Columns<AgentBlacklistItem> = [
  column("Agent", 1, ({ agent_id }) => <b>{agent_id}</b>),
  column("Host", 1, ({ hostname }) => <span class="subject">{hostname}</span>),
  column("Fingerprint", "9.25rem", ({ key_fingerprint }) => (
    <code class="fingerprint">{key_fingerprint}</code>
  )),
  column("Blocked", "6rem", ({ created_at }) => <Time at={created_at} />),
  column(
    "",
    "6rem",
    ({ agent_id, id }) =>
      mayAdminister.value && (
        <ActionButton describes={`Unblock ${agent_id}`} does={() => unblock(id)}>
          Unblock
        </ActionButton>
      ),
  ),
]

const BlockedKeys = () => (
  <Listing
    label="Blocked keys"
    kind="blocked"
    columns={BLOCKED}
    listed={usePages(listOf<AgentBlacklistItem>("api/v1/agents/admission/blacklist", {}))}
    keyOf={({ id }) => id}
    empty={<Empty title="No key is blocked" />}
  />
)

interface FoldedProps {
  readonly parameter: string
  readonly title: string
  readonly of: FunctionComponent
}

/** A part of the page that is read once the reader opens it. */
const Folded = ({ parameter, title, of: Part }: FoldedProps) => {
  const isOpen = route.value.parameters[parameter] === "yes"
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => setParameters({ [parameter]: currentTarget.open ? "yes" : "" })}
    >
      <summary>{title}</summary>
      {isOpen && <Part />}
    </details>
  )
}

export const Admission = () => (
  <>
    {mayAdminister.value && <AddHosts />}
    <p class="lead">Compare each fingerprint with the one that the agent prints, then accept it.</p>
    <AdmissionList />
    {mayAdminister.value && <Folded parameter="enrolments" title="Enrolment lines" of={Enrolments} />}
    <Folded parameter="blocked" title="Blocked keys" of={BlockedKeys} />
  </>
)
