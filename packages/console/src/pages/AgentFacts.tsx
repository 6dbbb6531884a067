import type { Agent, CheckExplanation } from "@tocsin/client"
import { spanText } from "../format/times.ts"
import { call } from "../state/session.ts"
import { useResource } from "../state/useResource.ts"

/** The labels of an agent or a check. */
export const Labels = ({ labels = {} }: { readonly labels?: Agent["labels"] }) => (
  <>
    {Object.entries(labels).map(([key, value]) => (
      <em key={key} class="label">
        {key}={value}
      </em>
    ))}
  </>
)

/** A fact of a list: the labels of an agent or a check, if it has any. */
export const LabelsFact = ({ labels = {} }: { readonly labels?: Agent["labels"] }) => (
  <>
    <dt>Labels</dt>
    <dd class="notes">{Object.keys(labels).length === 0 ? "none" : <Labels labels={labels} />}</dd>
  </>
)

/** Results take a moment to arrive: so many seconds say nothing about a clock. */
const LIKELY_SECONDS = 5

/** By how much a clock differs, for people. */
export const skewText = (seconds: number): string =>
  Math.abs(seconds) < LIKELY_SECONDS
    ? "in step with the service"
    : `${spanText(seconds * 1_000)} ${seconds > 0 ? "behind, or its results wait" : "ahead"}`

const Clock = ({ agent_id, check_id }: { readonly agent_id: string; readonly check_id: string }) => {
  const { value } = useResource(`clock ${agent_id}/${check_id}`, ["checks"], (signal) =>
    call<CheckExplanation>("GET", "ops/v1/explain", { query: { agent_id, check_id }, signal }),
  )
  return value === undefined ? null : (
    <>
      <dt>Clock</dt>
      <dd>{skewText(value.skew_seconds)}</dd>
    </>
  )
}

/** An agent's statements about itself; the clock is read off one of its checks. */
export const AgentFacts = ({
  agent,
  checkId,
}: {
  readonly agent: Agent
  readonly checkId: string | undefined
}) => (
  <dl class="facts-list">
    <dt>Host</dt>
    <dd>{agent.hostname}</dd>
    <dt>Key</dt>
    <dd>
      <code>{agent.key_fingerprint ?? "none"}</code> {agent.admission_state}
      {agent.rotation_pending && ", a new key waits"}
    </dd>
    <dt>Features</dt>
    <dd>
      {agent.features.push ? "pushes results" : "does not push"}
      {agent.features.metrics && ", exposes metrics"}
    </dd>
    <LabelsFact labels={agent.labels} />
    {checkId !== undefined && <Clock agent_id={agent.agent_id} check_id={checkId} />}
  </dl>
)
