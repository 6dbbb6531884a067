import type { PolicyInForce } from "@tocsin/client"
import { numberText } from "../format/times.ts"
import { linkTo } from "../state/Route.ts"
import { base, call, mayRespond } from "../state/session.ts"
import { summary } from "../state/summary.ts"
import { useResource } from "../state/useResource.ts"
import { ActButton } from "../view/ActButton.tsx"
import { Mark } from "../view/marks.tsx"
import { Unread } from "../view/states.tsx"
import { Time } from "../view/Time.tsx"

/** The first page of the service, for programs. */
interface ServiceState {
  readonly version: string
  readonly status: "stopping" | "not_ready" | "unwell" | "ok"
  readonly storage: { readonly kind: string; readonly status: "ok" | "failing" }
  readonly notifications: { readonly status: "in_time" | "late" | "given_up" | "unknown" }
  readonly started_at: string
}

const WELLNESS: Readonly<Record<ServiceState["status"], readonly [mark: string, text: string]>> = {
  ok: ["ok", "The service is well."],
  unwell: ["critical", "The service is unwell: see the storage and the notifications below."],
  not_ready: ["warning", "The service is not ready: it is starting, or its storage does not answer."],
  stopping: ["warning", "The service is stopping."],
}

const DELIVERY: Readonly<
  Record<ServiceState["notifications"]["status"], readonly [mark: string, text: string]>
> = {
  in_time: ["ok", "delivered"],
  late: ["warning", "delivered late"],
  given_up: ["critical", "some failed for good:"],
  unknown: ["unknown", "unknown while the storage does not answer"],
}

const StateFacts = ({ state }: { readonly state: ServiceState }) => {
  const [mark, text] = WELLNESS[state.status]
  const [deliveryMark, delivery] = DELIVERY[state.notifications.status]
  const counts = summary.value
  return (
    <>
      <p class="facts well">
        <Mark state={mark} word={state.status.replaceAll("_", " ")} /> {text}
      </p>
      <dl class="facts-list">
        <dt>Version</dt>
        <dd>
          {state.version}, started <Time at={state.started_at} isAlone />
        </dd>
        <dt>Storage</dt>
        <dd>
          <Mark state={state.storage.status === "ok" ? "ok" : "critical"} word={state.storage.status} />{" "}
          {state.storage.kind}
        </dd>
        <dt>Notifications</dt>
        <dd>
          <Mark state={deliveryMark} word={state.notifications.status.replaceAll("_", " ")} /> {delivery}
          {state.notifications.status === "given_up" && (
            <>
              {" "}
              <a href={linkTo("outbox", [], { tab: "failed" })}>dead letters</a>
            </>
          )}
        </dd>
        {counts !== undefined && (
          <>
            <dt>Agents</dt>
            <dd>
              {numberText(counts.agents_online)} alive, {numberText(counts.agents_offline)} stale or dead
            </dd>
            <dt>Checks</dt>
            <dd>
              {numberText(counts.checks_ok)} ok, {numberText(counts.checks_warning)} warning,{" "}
              {numberText(counts.checks_critical)} critical, {numberText(counts.checks_unknown)} unknown
            </dd>
          </>
        )}
      </dl>
    </>
  )
}

const sendTest = async (receiver: string) => {
  const { outcome, error } = await call<{ outcome: string; error: string | null }>(
    "POST",
    `ops/v1/notifiers/${receiver}/test`,
  )
  return { text: `${receiver}: ${outcome}${error === null ? "" : `, ${error}`}` }
}

const Notifiers = ({ policy }: { readonly policy: PolicyInForce }) => (
  <ul class="plain" aria-label="Notifiers">
    {policy.receivers.map(({ name, notifier }) => (
      <li class="row delivery" key={name}>
        <b>{name}</b>
        <span class="subject">{notifier}</span>
        {mayRespond.value && (
          <ActButton describes={`Send a test message to ${name}`} does={() => sendTest(name)}>
            Test
          </ActButton>
        )}
      </li>
    ))}
  </ul>
)

/** As much of a hash as tells policies apart at a glance. */
const HASH_START = 12

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
            <Mark state={isEqual ? "ok" : "warning"} word={isEqual ? "same" : "differs"} />
            <code class="subject" title={hash}>
              {hash.slice(0, HASH_START)}
            </code>
            <span class="subject">
              {version}, started <Time at={started_at} />, notifies {receivers.join(", ") || "nobody"}
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
    <p>
      Hash <code>{policy.hash}</code>
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

/** Whether the service is well, and what it runs with. */
export const System = () => {
  const { value: state, failure } = useResource("state", ["policy", "outbox"], (signal) =>
    call<ServiceState>("GET", "", { signal }),
  )
  const { value: policy, failure: policyFailure } = useResource("policy", ["policy"], (signal) =>
    call<PolicyInForce>("GET", "ops/v1/policy", { signal }),
  )
  return (
    <>
      <h1>System</h1>
      {state === undefined ? <Unread failure={failure} /> : <StateFacts state={state} />}
      <h2>Notifiers</h2>
      {policy === undefined ? <Unread failure={policyFailure} /> : <Notifiers policy={policy} />}
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
