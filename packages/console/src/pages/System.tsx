import { useSignal } from "@preact/signals"
import type { HeldOutboxItem, NotifierTest, PolicyInForce } from "@tocsin/client"
import { segment } from "../api/request.ts"
import { countText, hashStart, numberText } from "../format/times.ts"
import { DELIVERY, faultOf, type ServiceState, WELLNESS } from "../state/health.ts"
import { MOST } from "../state/lists.ts"
import type { Answered } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { base, call, mayRespond } from "../state/session.ts"
import { agentsText, summary } from "../state/summary.ts"
import { ActionButton } from "../view/forms.tsx"
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
    Agents: counts && agentsText(counts),
    Checks:
      counts && STATES.map((status) => `${numberText(counts[`checks_${status}`])} ${status}`).join(", "),
  }
}

const STATES = ["ok", "warning", "critical", "unknown"] as const

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

/** More than the 15 s for which the service waits for the receiver. */
const TEST_MILLIS = 20_000

type NotifierProps = PolicyInForce["receivers"][number] & {
  readonly letters: Letters
  /** Why no running server can use it, if so. */
  readonly fault: string | undefined
}

/** How many notifications of a receiver wait, as far as the first of them show. */
const Waiting = ({ name }: { readonly name: string }) => {
  const query = { state: "pending", limit: MOST }
  const { value } = useRead<Answered<HeldOutboxItem>>("ops/v1/outbox", query, ["outbox"])
  if (value === undefined) return null
  const count = value.items.filter(({ receiver }) => receiver === name).length
  return (
    <a href={linkTo("outbox", [], { tab: "pending" })}>
      {value.items.length < MOST ? countText(count, "notification") : `${count} or more notifications`}{" "}
      waiting
    </a>
  )
}

const Notifier = ({ name, notifier, letters, fault }: NotifierProps) => {
  const tested = useSignal("")
  const sendTest = async () => {
    tested.value = ""
    const { outcome, error } = await call<NotifierTest>("POST", `ops/v1/notifiers/${segment(name)}/test`, {
      timeoutMillis: TEST_MILLIS,
    })
    const result = `${outcome}${error === null ? "" : `, ${error}`}`
    tested.value = `the test was ${result}`
    return { text: `${name}: ${result}` }
  }
  const [latest] = letters
  return (
    <li class="row notifier">
      <b>{name}</b>
      {fault !== undefined && <Mark state="critical" word="unusable" />}
      <span class="subject">
        {fault !== undefined && (
          <span class="failure">
            no server can use it: {fault}; <Waiting name={name} />
          </span>
        )}
        {notifier === "debug" && <span>writes each notification to the server's log, and nowhere else</span>}
        {notifier !== name && notifier !== "debug" && <span>{notifier}</span>}
        {latest !== undefined && (
          <span>
            {lettersText(letters)}, the latest: {latest.last_error ?? "no reason known"}
          </span>
        )}
        {tested.value !== "" && <b role="status">{tested}</b>}
      </span>
      {mayRespond.value && (
        <ActionButton describes={`Send a test message to ${name}`} does={sendTest}>
          Test
        </ActionButton>
      )}
    </li>
  )
}

type NotifiersProps = Pick<NotifierProps, "letters"> & { readonly policy: PolicyInForce }

export const Notifiers = ({ policy, letters }: NotifiersProps) => (
  <ul class="plain" aria-label="Notifiers">
    {policy.receivers.map((receiver) => (
      <Notifier
        key={receiver.name}
        {...receiver}
        fault={faultOf(policy, receiver.name)}
        letters={letters.filter((letter) => letter.receiver === receiver.name)}
      />
    ))}
  </ul>
)

const Replicas = ({ policy }: { readonly policy: PolicyInForce }) => (
  <>
    {policy.replicas_differ && (
      <p class="failure" role="alert">
        <strong>The servers follow different policies.</strong> Give each the same file, then reload or
        restart those that differ.
      </p>
    )}
    <ul class="plain" aria-label="Servers">
      {policy.replicas.map(({ id, version, hash, receivers, started_at, seen_at }) => {
        const isEqual = hash === policy.hash
        return (
          <li class="row replica" key={id}>
            <Mark state={isEqual ? "ok" : "warning"} word={isEqual ? "same policy" : "policy differs"} />
            <code class="subject" title={hash}>
              {hashStart(hash)}
            </code>
            <span class="subject">
              {version}, started <Time at={started_at} />, notifies {receivers.join(", ") || "no receiver"}
            </span>
            <Time at={seen_at} />
          </li>
        )
      })}
    </ul>
  </>
)

const Policy = ({ policy }: { readonly policy: PolicyInForce }) => (
  <>
    <p class="lead" title={policy.hash}>
      Version <code>{hashStart(policy.hash)}</code>
    </p>
    {Object.keys(policy.policy).length === 0 ? (
      <p class="lead">No policy file is set: every receiver is notified of every incident immediately.</p>
    ) : (
      <details>
        <summary>The policy</summary>
        <pre tabIndex={0}>{JSON.stringify(policy.policy, undefined, 2)}</pre>
      </details>
    )}
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
      <h1>System</h1>
      <ReadingNote reading={stateRead} />
      {state !== undefined && <State state={state} letters={letters} />}
      <h2>Notifiers</h2>
      <ReadingNote reading={policyRead} />
      {policy !== undefined && <Notifiers policy={policy} letters={letters} />}
      <h2>Policy in force</h2>
      {policy !== undefined && <Policy policy={policy} />}
      <h2>Servers that run it</h2>
      {policy !== undefined && <Replicas policy={policy} />}
      <p class="after">
        <a href={`${base}docs`}>API reference</a>
      </p>
    </>
  )
}
