import type { Agent, Integration } from "@tocsin/client"
import { numberText } from "../../format/times.ts"
import { listOf, MOST, readAll, topicsOf } from "../../state/lists.ts"
import { Mark, TimeAfter } from "../../view/states.tsx"
import { keptMap } from "../../view/usePages.ts"

const PATH = "ops/v1/integrations"

/** The agent of an integration is as alive as the service, so its state is what the integration reports. */
export const reporting = keptMap<Integration>("reporting", topicsOf(PATH), async () =>
  (await readAll(listOf<Integration>(PATH, {}, MOST))).map((integration) => [integration.name, integration]),
)

export const ContactMark = ({ agent_id, status }: Agent) => {
  const { kind, last_request_at: at = null, overdue = 0 } = reporting.useOf(agent_id) ?? {}
  if (kind === undefined) return <Mark state={status} />
  if (overdue > 0) return <Mark state="late" word={`${numberText(overdue)} late`} />
  return at === null && kind !== "watch" ? (
    <Mark state="pending" word="no report" />
  ) : (
    <Mark state="ok" word="reports" />
  )
}

/** When an agent was last seen, or what an integration last reported. */
export const ContactTime = ({
  agent,
  isAlone = false,
}: {
  readonly agent: Agent
  readonly isAlone?: boolean
}) => {
  const { kind = "watch", last_request_at } = reporting.useOf(agent.agent_id) ?? {}
  const [did, at] = kind === "watch" ? ["last seen ", agent.last_seen_at] : ["last report ", last_request_at]
  return <TimeAfter text={isAlone ? did : ""} at={at} isAlone={isAlone} />
}
