import type { HeldOutboxItem, PolicyInForce } from "@tocsin/client"
import { countText, hashStart, numberText } from "../format/times.ts"
import { DELIVERY, type ServiceState, unreachedText, WELLNESS } from "../state/health.ts"
import { MOST, STATES } from "../state/lists.ts"
import type { Answered } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { base } from "../state/base.ts"
import { agentsText, summary } from "../state/summary.ts"
import { Facts, Mark, ReadingNote, Time } from "../view/states.tsx"
import { useRead } from "../view/usePages.ts"

/** Notifications that failed for good, the latest first. */
type Letters = ReadonlyArray<HeldOutboxItem>

const lettersText = (letters: Letters): string =>
  letters.length < MOST
    ? countText(letters.length, "failed notification")
    : `more than ${MOST} failed notifications`

const faultsText = ({ notifications: { status }, storage }: ServiceState, letters: Letters): string => {
  if (storage.status === "failing") return "its storage fails."
  if (status !== "given_up") return `${DELIVERY[status][1]}.`
  const receivers = Array.from(new Set(letters.map(({ receiver }) => receiver))).join(", ")
  return `${lettersText(letters)}${receivers === "" ? "" : ` to ${receivers}`}, one within the last hour.`
}

const zonesOf = ({ host_version, status, version }: NonNullable<ServiceState["time_zones"]>) => (
  <>
    <Mark state={status === "ok" ? "ok" : "warning"} word={status} /> {version ?? "of no version"}
    {host_version !== null && `, ${host_version} on its machine`}
    {status === "differ" && ": tocsin doctor names the zones"}
  </>
)

const factsOf = (state: ServiceState, letters: Letters) => {
  const [mark, delivery] = DELIVERY[state.notifications.status]
  const counts = summary.value
  return {
    Version: (
      <>
        {state.version}, started <Time at={state.started_at} isAlone />
      </>
    ),
    Storage: (
      <>
        <Mark state={state.storage.status === "ok" ? "ok" : "critical"} word={state.storage.status} />{" "}
        {state.storage.kind}
      </>
    ),
    Notifications: (
      <>
        <Mark state={mark} word={state.notifications.status.replaceAll("_", " ")} /> {delivery}
        {letters.length > 0 && (
          <>
            , <a href={linkTo("outbox", [], { tab: "failed" })}>{lettersText(letters)}</a>
          </>
        )}
      </>
    ),
    "Time zones": state.time_zones && zonesOf(state.time_zones),
    Policy: (
      <>
        <a href={linkTo("policy")}>who is notified of what</a>, <a href={linkTo("receivers")}>receivers</a>
      </>
    ),
    Agents: counts && agentsText(counts),
    Checks: counts && STATES.map((each) => `${numberText(counts.states[each])} ${each}`).join(", "),
  }
}

const State = ({ state, letters }: { readonly state: ServiceState; readonly letters: Letters }) => {
  const [mark, text] = WELLNESS[state.status]
  return (
    <>
      <p class="facts well">
        <Mark state={mark} word={state.status.replaceAll("_", " ")} /> {text}
        {state.status === "unwell" && ` ${faultsText(state, letters)}`}
      </p>
      <Facts facts={factsOf(state, letters)} />
    </>
  )
}

const Replicas = ({ policy }: { readonly policy: PolicyInForce }) => (
  <>
    {policy.replicas_differ && (
      <p class="failure" role="alert">
        <strong>The servers follow different policies.</strong> Give each the same file, then reload or
        restart those that differ.
      </p>
    )}
    <ul class="plain" aria-label="Servers">
      {policy.replicas.map(({ id, version, hash, receivers, started_at, seen_at, unavailable }) => {
        const isEqual = hash === policy.hash
        const used = receivers.filter((name) => unavailable.every(({ receiver }) => receiver !== name))
        return (
          <li class="row replica" key={id}>
            <Mark state={isEqual ? "ok" : "warning"} word={isEqual ? "same policy" : "policy differs"} />
            <code class="subject" title={hash}>
              {hashStart(hash)}
            </code>
            <span class="subject">
              {version}, started <Time at={started_at} />, notifies {used.join(", ") || "no receiver"}
              {unavailable.map(({ reason, receiver }) => (
                <em class="is-failed" key={receiver}>
                  {" "}
                  {unreachedText(receiver, reason)}
                </em>
              ))}
            </span>
            <Time at={seen_at} />
          </li>
        )
      })}
    </ul>
  </>
)

export const System = () => {
  const stateRead = useRead<ServiceState>("", {}, ["policy", "outbox"])
  const policyRead = useRead<PolicyInForce>("ops/v1/policy")
  const query = { state: "failed", limit: MOST }
  const { value: failed } = useRead<Answered<HeldOutboxItem>>("ops/v1/outbox", query, ["outbox"])
  const { value: state } = stateRead
  const { value: policy } = policyRead
  const letters = failed?.items ?? []
  return (
    <>
      <ReadingNote reading={stateRead} />
      {state !== undefined && <State state={state} letters={letters} />}
      <h2>Servers</h2>
      <ReadingNote reading={policyRead} />
      {policy !== undefined && <Replicas policy={policy} />}
      <p class="after">
        <a href={`${base}docs`}>API reference</a>
      </p>
    </>
  )
}
