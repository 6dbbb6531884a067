import { type Signal, useSignal } from "@preact/signals"
import type { Integration, IntegrationWithKey } from "@tocsin/client"
import { mayAdminister } from "../state/session.ts"
import { ActionButton } from "../view/buttons.tsx"
import { ChoiceField, Fault, SecretActions, sent, ShownOnce, TextField } from "../view/creation.tsx"
import { Time } from "../view/marks.tsx"
import { Last, NamedList } from "../view/NamedList.tsx"

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

/** The lines that a Prometheus needs to report to this server: of its configuration, and of a file of rules. */
export const prometheusLines = ({ key }: IntegrationWithKey): ReadonlyArray<string> => {
  const { host, protocol } = globalThis.location
  return [
    `# prometheus.yml
alerting:
  alertmanagers:
    - scheme: ${protocol.slice(0, -1)}
      path_prefix: /in/alertmanager
      authorization: {credentials: ${key}}
      static_configs: [{targets: ["${host}"]}]`,
    `# a file of rules: one that always fires, for the option watchdog
groups:
  - name: watchdog
    rules: [{alert: Watchdog, expr: vector(1), labels: {severity: none}}]`,
  ]
}

/** An address as a sender reaches this server. */
export const whole = (url: string): string => new URL(url, globalThis.location.origin).href

/** The texts to copy of a new integration. */
const textsOf = (made: IntegrationWithKey): ReadonlyArray<string> => {
  const addresses = made.urls.map(whole)
  if (addresses.every((address) => address.includes(made.key))) return addresses
  const lines = made.kind === "alertmanager" ? prometheusLines(made) : []
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

interface ShownProps {
  readonly shown: Signal<IntegrationWithKey | undefined>
}

/** The path of all integrations. */
export const INTEGRATIONS = "ops/v1/integrations"

const CreateForm = ({ shown }: ShownProps) => {
  const name = useSignal("")
  const kind = useSignal("ping")
  const options = useSignal("")
  const fault = useSignal("")
  return (
    <>
      <div class="form-row">
        <TextField label="Name" value={name} />
        <ChoiceField label="Kind" value={kind} options={KINDS} />
        <TextField label="Options (JSON)" value={options} placeholder={OPTIONS[kind.value]} />
        <ActionButton
          kind="main"
          does={async () => {
            const given = optionsIn(options.value)
            if (given === undefined) return void (fault.value = "The options must be a JSON object.")
            const body = { name: name.value.trim(), kind: kind.value, options: given }
            const made = await sent<IntegrationWithKey>("POST", INTEGRATIONS, body, fault)
            if (made === undefined) return undefined
            name.value = ""
            options.value = ""
            shown.value = made
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

/** Reports of senders that do not speak the API. */
export const Integrations = () => {
  const shown = useSignal<IntegrationWithKey | undefined>(undefined)
  return (
    <>
      <h1>Integrations</h1>
      {mayAdminister.value && <CreateForm shown={shown} />}
      <Addresses of={shown} />
      <IntegrationList shown={shown} />
    </>
  )
}

/** The lines to paste of a new integration, which are shown once. */
export const Addresses = ({
  of,
  texts = textsOf,
  title = ({ name }) => `Addresses of ${name}`,
}: {
  readonly of: ShownProps["shown"]
  readonly title?: (made: IntegrationWithKey) => string
  readonly texts?: (made: IntegrationWithKey) => ReadonlyArray<string>
}) => <ShownOnce of={of} titleOf={title} textsOf={texts} />

/** Each integration with its last report; those that can be changed need a place for a new key. */
export const IntegrationList = ({ shown }: Partial<ShownProps>) => (
  <NamedList<Integration>
    label="Integrations"
    path={INTEGRATIONS}
    heads={["Name", "Last refusal", "Kind", "Last report", ""]}
    empty={["No integrations yet", "Cron jobs and other monitors report through one."]}
  >
    {({ name, kind, created_by, is_closed, last_refusal, last_request_at }) => ({
      subject:
        last_refusal === null ? (
          `created by ${created_by}`
        ) : (
          <>
            refused <Time at={last_refusal.at} />: {last_refusal.message}
          </>
        ),
      label: kind,
      note: is_closed ? "key blocked" : undefined,
      when: <Last did="reported" at={last_request_at} never="no report yet" />,
      actions: shown !== undefined && mayAdminister.value && (
        <SecretActions
          name={name}
          noun="integration"
          path={INTEGRATIONS}
          replaces={["Replace key", "Replaced the key"]}
          warning="Its checks and their history go with it."
          shown={shown}
        />
      ),
    })}
  </NamedList>
)
