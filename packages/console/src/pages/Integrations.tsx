import { useSignal } from "@preact/signals"
import type { Integration, IntegrationWithKey } from "@tocsin/client"
import { listOf } from "../state/lists.ts"
import { mayAdminister } from "../state/session.ts"
import { ActionButton } from "../view/buttons.tsx"
import { created, Fault, SecretActions, ShownOnce } from "../view/creation.tsx"
import { Listing } from "../view/Listing.tsx"
import { Time } from "../view/marks.tsx"
import { Empty } from "../view/states.tsx"
import { usePages } from "../view/usePages.ts"

/** The protocols, as people know them. */
const KINDS = [
  ["ping", "ping: cron jobs, curl, Healthchecks"],
  ["push", "push: Uptime Kuma"],
  ["alertmanager", "alertmanager: Prometheus, vmalert, Loki, Grafana"],
  ["webhook", "webhook: Alertmanager, Grafana, other JSON"],
] as const

/** Options of each kind, as an example of how to write them. */
const OPTIONS: Readonly<Record<string, string>> = {
  ping: '{"check": "backup", "methods": ["POST"]}',
  push: '{"check": "web"}',
  alertmanager: '{"watchdog": "Watchdog", "group_by": ["alertname"]}',
  webhook: '{"map": {"check": "/name", "status": "/status"}}',
}

/** The lines that a Prometheus needs to report to this server. */
const prometheusLines = ({ key }: IntegrationWithKey): string => {
  const { host, protocol } = globalThis.location
  return `# prometheus.yml
alerting:
  alertmanagers:
    - scheme: ${protocol.slice(0, -1)}
      path_prefix: /in/alertmanager
      authorization: {credentials: ${key}}
      static_configs: [{targets: ["${host}"]}]
# a rule that always fires, for the option watchdog
groups:
  - name: watchdog
    rules: [{alert: Watchdog, expr: vector(1), labels: {severity: none}}]`
}

/** An address as a sender reaches this server. */
const whole = (url: string): string => new URL(url, globalThis.location.origin).href

/** The texts to copy of a new integration. */
const textsOf = (made: IntegrationWithKey): ReadonlyArray<string> => {
  const addresses = made.urls.map(whole)
  if (addresses.every((address) => address.includes(made.key))) return addresses
  const lines = made.kind === "alertmanager" ? [prometheusLines(made)] : []
  return [...addresses, made.key, ...lines]
}

/** The options that a form's text states; `undefined` if it is no JSON. */
const optionsIn = (text: string): unknown => {
  try {
    return text.trim() === "" ? {} : JSON.parse(text)
  } catch {
    return undefined
  }
}

type OnKey = (made: IntegrationWithKey) => void

const CreateForm = ({ onKey }: { readonly onKey: OnKey }) => {
  const name = useSignal("")
  const kind = useSignal<string>("ping")
  const options = useSignal("")
  const fault = useSignal("")
  return (
    <>
      <div class="form-row">
        <label>
          Name
          <input
            value={name}
            onInput={(event) => (name.value = event.currentTarget.value)}
            autoComplete="off"
          />
        </label>
        <label>
          Kind
          <select value={kind} onChange={(event) => (kind.value = event.currentTarget.value)}>
            {KINDS.map(([each, text]) => (
              <option key={each} value={each}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label>
          Options (JSON)
          <input
            value={options}
            placeholder={OPTIONS[kind.value]}
            onInput={(event) => (options.value = event.currentTarget.value)}
            autoComplete="off"
          />
        </label>
        <ActionButton
          kind="main"
          does={async () => {
            const given = optionsIn(options.value)
            if (given === undefined) return void (fault.value = "The options must be a JSON object.")
            const body = { name: name.value.trim(), kind: kind.value, options: given }
            const made = await created<IntegrationWithKey>(PATH, body, fault)
            if (made === undefined) return undefined
            name.value = ""
            options.value = ""
            onKey(made)
            return { text: `Created ${made.name}` }
          }}
        >
          Create integration
        </ActionButton>
      </div>
      <Fault of={fault} />
      <p class="lead">
        Senders report by requesting an address, without an agent. Each check appears with its first report.
      </p>
    </>
  )
}

const PATH = "ops/v1/integrations"

/** Reports of senders that do not speak the API. */
export const Integrations = () => {
  const shown = useSignal<IntegrationWithKey | undefined>(undefined)
  const onKey: OnKey = (made) => (shown.value = made)
  return (
    <>
      <h1>Integrations</h1>
      {mayAdminister.value && <CreateForm onKey={onKey} />}
      {shown.value !== undefined && (
        <ShownOnce
          what={`Addresses of ${shown.value.name}`}
          texts={textsOf(shown.value)}
          onDone={() => (shown.value = undefined)}
        />
      )}
      <List onKey={onKey} />
    </>
  )
}

const List = ({ onKey }: { readonly onKey: OnKey }) => (
  <Listing
    label="Integrations"
    kind="operator"
    heads={["Name", "Last refusal", "Kind", "Last report", ""]}
    listed={usePages(listOf<Integration>(PATH, {}))}
    keyOf={({ name }) => name}
    size="tall"
    empty={<Empty title="No integrations yet">Cron jobs and other monitors report through one.</Empty>}
  >
    {({ name, kind, created_by, is_closed, last_refusal, last_request_at }) => (
      <div class="row operator" data-id={name}>
        <b>{name}</b>
        <span class="subject">
          {last_refusal === null ? (
            `created by ${created_by}`
          ) : (
            <>
              refused <Time at={last_refusal.at} />: {last_refusal.message}
            </>
          )}
        </span>
        <span class="notes">
          <em class="taker">{kind}</em>
          {is_closed && <em>key blocked</em>}
        </span>
        <span class="when">
          {last_request_at === null ? (
            "no report yet"
          ) : (
            <>
              reported <Time at={last_request_at} />
            </>
          )}
        </span>
        {mayAdminister.value && (
          <SecretActions
            name={name}
            noun="integration"
            path={PATH}
            replaces={["Replace key", "Replaced the key"]}
            warning="Its checks and their history go with it."
            onMade={onKey}
          />
        )}
      </div>
    )}
  </Listing>
)
