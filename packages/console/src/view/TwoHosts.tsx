import type { Agent, HeldIncident } from "@tocsin/client"
import { listOf, MOST, readAll, topicsOf } from "../state/lists.ts"
import { keptMap } from "./usePages.ts"

const PATH = "ops/v1/incidents"
const KEY_END = "/@twice"

/** The agents whose key two hosts use: each has an open incident of its own. */
const twoHosts = keptMap<true>("two hosts", topicsOf(PATH), async () =>
  (await readAll(listOf<HeldIncident>(PATH, { state: "open", search: KEY_END }, MOST))).flatMap(
    ({ incident_key }) =>
      incident_key.endsWith(KEY_END) ? [[incident_key.slice(0, -KEY_END.length), true]] : [],
  ),
)

/** Keeps the marks of agents with two hosts current. Says so where that is not known: no mark is no health then. */
export const TwoHostsNote = () =>
  twoHosts.useCurrent() === undefined ? null : (
    <p class="lead" role="status">
      It is not known which agents have two hosts: their incidents cannot be read. Trying again.
    </p>
  )

export const TwoHosts = ({ agent: { agent_id } }: { readonly agent: Agent }) =>
  twoHosts.useOf(agent_id) === true ? (
    <em
      class="is-failed"
      title={`Two hosts report with its key: the incident ${agent_id}${KEY_END} says what to do`}
    >
      two hosts
    </em>
  ) : null
