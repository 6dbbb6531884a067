import type { Agent, ExpectedCheckState, HeldIncident } from "@tocsin/client"
import { segment } from "../api/request.ts"
import { accept, block, isWaiting, removeAgent } from "../state/agentActions.ts"
import { listOf } from "../state/lists.ts"
import { asBack, backTo, go, route } from "../state/location.ts"
import { type Answered, itemsOf } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { call, mayAdminister, mayRespond } from "../state/session.ts"
import { silenceOf } from "../state/silenceActions.ts"
import { useResource } from "../state/useResource.ts"
import { ActionButton } from "../view/buttons.tsx"
import { BackLink } from "../view/navigation.tsx"
import { useKeys } from "../view/Keyboard.tsx"
import { Listing } from "../view/Listing.tsx"
import { Empty, ReadingNote } from "../view/states.tsx"
import { Mark, Time } from "../view/marks.tsx"
import { usePages } from "../view/usePages.ts"
import { AgentFacts } from "./AgentFacts.tsx"
import { IncidentList } from "./CheckPage.tsx"
import { CHECK_HEADS, CheckRow } from "./Checks.tsx"

const OpenIncidents = ({ agent_id }: { readonly agent_id: string }) => {
  const reading = useResource(`incidents of ${agent_id}`, ["incidents"], (signal) =>
    call<Answered<HeldIncident>>("GET", "ops/v1/incidents", {
      query: { agent_id, state: "open", limit: 20 },
      signal,
    }),
  )
  const { value: incidents } = reading
  if (incidents === undefined) return <ReadingNote reading={reading} />
  return (
    <>
      <ReadingNote reading={reading} />
      {incidents.items.length === 0 ? (
        <p class="lead">None.</p>
      ) : (
        <IncidentList label="Open incidents" incidents={incidents.items} />
      )}
      {typeof incidents.next_cursor === "string" && (
        <p>
          <a href={linkTo("incidents", [], { filter: `${agent_id}/` })}>All of its incidents</a>
        </p>
      )}
    </>
  )
}

const Actions = ({ agent }: { readonly agent: Agent }) => {
  const id = agent.agent_id
  if (!mayRespond.value) return null
  const silence = (
    <button type="button" class="quiet" onClick={() => go(silenceOf({ agent_id: id }))}>
      Silence
    </button>
  )
  if (!mayAdminister.value) return <div class="actions">{silence}</div>
  return (
    <div class="actions">
      {isWaiting(agent) && (
        <ActionButton kind="main" does={() => accept([id])}>
          Accept
        </ActionButton>
      )}
      {silence}
      <ActionButton
        kind="danger"
        does={() => block([id])}
        confirms={[
          isWaiting(agent)
            ? `Block the waiting key of ${id}?`
            : `Block the key of ${id}? Without another key, the agent is deleted with its history.`,
          "Block the key",
        ]}
      >
        Block
      </ActionButton>
      <ActionButton
        kind="danger"
        confirms={[`Delete ${id} with its checks and their history?`, "Delete the agent"]}
        does={async () => {
          const done = await removeAgent(id)
          go(linkTo("agents"))
          return done
        }}
      >
        Delete
      </ActionButton>
    </div>
  )
}

/** One agent with its checks and its open incidents. */
export const AgentPage = () => {
  const [id = ""] = route.value.subject
  const reading = useResource(`agent ${id}`, ["agents"], (signal) =>
    call<Agent>("GET", `api/v1/agents/${segment(id)}`, { signal }),
  )
  const { value: agent, failure } = reading
  const listed = usePages(listOf<ExpectedCheckState>("ops/v1/checks", { agent_id: id }))
  useKeys((command) => {
    if (command === "back") go(asBack(backTo("agents")))
    if (command === "silence" && mayRespond.value) go(silenceOf({ agent_id: id }))
  })
  const reported = itemsOf(listed.pages).find(({ status }) => status !== null)
  return (
    <article>
      <BackLink to={backTo("agents")} />
      <h1>{id}</h1>
      <ReadingNote reading={reading} />
      {agent !== undefined && failure?.code !== "not_found" && (
        <>
          <p class="facts">
            <Mark state={agent.status} /> last seen <Time at={agent.last_seen_at} isAlone />
          </p>
          <AgentFacts agent={agent} checkId={reported?.check_id} />
          <Actions agent={agent} />
          <h2>Open incidents</h2>
          <OpenIncidents agent_id={id} />
          <h2>Checks</h2>
          <Listing
            label="Checks"
            kind="check"
            heads={CHECK_HEADS}
            listed={listed}
            keyOf={({ check_id }) => check_id}
            empty={<Empty title="It has reported no check yet" />}
          >
            {(check) => <CheckRow check={check} isOfAgent />}
          </Listing>
        </>
      )}
    </article>
  )
}
