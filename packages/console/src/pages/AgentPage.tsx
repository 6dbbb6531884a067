import type { Agent, CheckExplanation, HeldIncident, Silence, TitledAgent } from "@tocsin/client"
import { limitsAgents } from "@tocsin/contract/labels/matcherText"
import { segment } from "../api/request.ts"
import { accept, block, blockQuestion, isWaiting, removeAgent } from "../state/agentActions.ts"
import { checksOf, listOf, MOST } from "../state/lists.ts"
import { asBack, backTo, go, route } from "../state/location.ts"
import { type Answered, itemsOf } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { mayAdminister, mayRespond } from "../state/session.ts"
import { concerns, silenceOf } from "../features/silences/silenceActions.ts"
import { AsPlace } from "../features/watches/Places.tsx"
import { ContactMark, ContactTime, reporting } from "../features/integrations/Contact.tsx"
import { ActionButton, QuietButton } from "../view/forms.tsx"
import { useKeys } from "../view/Keyboard.tsx"
import { Empty, Facts, labelsFact, Missing, ReadingNote, withoutTitle } from "../view/states.tsx"
import { Outdated, useServerVersion } from "../view/Outdated.tsx"
import { TwoHosts, TwoHostsNote } from "../view/TwoHosts.tsx"
import { BackLink } from "../view/navigation.tsx"
import { SilencedBy } from "../view/NotifiedMarks.tsx"
import { NamedHead, TitleEditor } from "../view/titles.tsx"
import { usePages, useRead } from "../view/usePages.ts"
import { skewOf } from "./CheckPage.tsx"
import { IncidentsOf } from "./IncidentsOf.tsx"
import { CheckListing } from "./CheckListing.tsx"

const Clock = ({ agent_id, check_id }: { readonly agent_id: string; readonly check_id: string }) => {
  const { value } = useRead<CheckExplanation>("ops/v1/explain", { agent_id, check_id })
  return <>{skewOf(value)}</>
}

/** An agent's statements about itself; the clock is read off one of its checks. */
const factsOf = (agent: Agent, checkId: string | undefined) => ({
  Host: agent.hostname,
  Key: (
    <>
      <code>{agent.key_fingerprint ?? "none"}</code> {agent.admission_state}
      {agent.rotation_pending && ", a new key waits"}
    </>
  ),
  Features: (
    <>
      {agent.features.push ? "pushes results" : "does not push"}
      {agent.features.metrics && ", exposes metrics"}
    </>
  ),
  Labels: labelsFact(withoutTitle(agent.labels)),
  Clock: checkId === undefined ? undefined : <Clock agent_id={agent.agent_id} check_id={checkId} />,
})

const Administer = ({ agent }: { readonly agent: Agent }) => {
  const id = agent.agent_id
  return (
    <>
      {isWaiting(agent) && (
        <ActionButton kind="main" does={() => accept([id])}>
          Accept
        </ActionButton>
      )}
      <ActionButton kind="danger" does={() => block([id])} confirms={blockQuestion([agent])}>
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
    </>
  )
}

const Silences = ({ agent }: { readonly agent: Agent }) => {
  const { pages } = usePages(listOf<Silence>("ops/v1/silences", { state: "active" }, MOST))
  const mine = itemsOf(pages).filter((silence) => concerns(silence, agent))
  return mine.map((silence) => (
    <p key={silence.id}>
      <SilencedBy silence={silence} isPart={!silence.matchers.every(limitsAgents)} />
    </p>
  ))
}

export const AgentPage = () => {
  const [id = ""] = route.value.subject
  // The first agent from this ID on: v1 shows no titles.
  const reading = useRead<Answered<TitledAgent>>("ops/v1/agents", { from_agent: id, limit: 1 })
  const agent = reading.value?.items.find(({ agent_id }) => agent_id === id)
  const server = useServerVersion()
  reporting.useCurrent()
  const listed = usePages(checksOf({ agent_id: id }))
  const query = { agent_id: id, state: "open", limit: 20, with_receivers: true }
  const open = useRead<Answered<HeldIncident>>("ops/v1/incidents", query)
  const silence = () => go(silenceOf({ agent_id: id }))
  useKeys((command) => {
    if (command === "back") go(asBack(backTo("agents")))
    if (command === "silence" && mayRespond.value) silence()
  })
  const reported = itemsOf(listed.pages).find(({ status }) => status !== null)
  return (
    <article>
      <BackLink to={backTo("agents")} />
      <NamedHead id={id} title={agent?.title} />
      {reading.value !== undefined && agent === undefined ? (
        <Missing what="agent" name={id} others={linkTo("agents")} />
      ) : (
        <ReadingNote reading={reading} />
      )}
      {agent !== undefined && (
        <>
          <p class="facts">
            <ContactMark {...agent} /> <ContactTime agent={agent} isAlone /> <TwoHosts agent={agent} />{" "}
            <Outdated agent={agent} server={server} />
          </p>
          <TwoHostsNote />
          <Silences agent={agent} />
          <Facts facts={factsOf(agent, reported?.check_id)} />
          {mayRespond.value && (
            <div class="actions">
              <QuietButton does={silence}>Silence</QuietButton>
              <TitleEditor path={`ops/v1/agents/${segment(id)}`} id={id} title={agent.title} />
              {mayAdminister.value && <Administer agent={agent} />}
            </div>
          )}
          <AsPlace {...agent} />
          <h2>Open incidents</h2>
          <IncidentsOf
            label="Open incidents"
            reading={open}
            none="None."
            more={linkTo("incidents", [], { filter: `${id}/` })}
          />
          <h2>Checks</h2>
          <CheckListing listed={listed} isOfAgent empty={<Empty title="It has reported no check yet" />} />
        </>
      )}
    </article>
  )
}
