import { type Signal, useSignal } from "@preact/signals"
import type { Integration, IntegrationWithKey } from "@tocsin/client"
import { listOf } from "../state/lists.ts"
import { mayAdminister } from "../state/session.ts"
import { type FormField, refusal, type Secret, ShownOnce } from "../view/forms.tsx"
import { Time } from "../view/marks.tsx"
import { type Kind, Last, NamedActions, NamedForm, NamedList } from "../view/Named.tsx"

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

/** The lines to paste of a new integration. */
const textsOf = (made: IntegrationWithKey): ReadonlyArray<string> => {
  const addresses = made.urls.map(whole)
  if (addresses.every((address) => address.includes(made.key))) return addresses
  const lines = made.kind === "alertmanager" ? prometheusLines(made) : []
  return [...addresses, made.key, ...lines]
}

/** Senders that do not speak the API. */
export const INTEGRATIONS: Kind<IntegrationWithKey> = {
  noun: "integration",
  creates: "Create integration",
  path: "ops/v1/integrations",
  warning: "Its checks and their history go with it.",
  replaces: ["New key", "Replaced the key"],
  secretOf: (made) => ({ title: `Addresses of ${made.name}`, texts: textsOf(made) }),
}

const optionsIn = (text: string): unknown => {
  try {
    return text === "" ? {} : JSON.parse(text)
  } catch {
    throw refusal("The options must be a JSON object.")
  }
}

interface IntegrationListProps {
  readonly changed?: Signal<Integration | undefined>
  /** Takes a new key. */
  readonly shown?: Signal<Secret | undefined>
}

const refusalOf = ({ at, message }: NonNullable<Integration["last_refusal"]>) => (
  <>
    , refused <Time at={at} />: {message}
  </>
)

/** All but the one by which the service reports its own watches. */
const listIntegrations = () => {
  const all = listOf<Integration>(INTEGRATIONS.path, {})
  return {
    ...all,
    read: async (cursor: string | undefined) => {
      const page = await all.read(cursor)
      return { ...page, items: page.items.filter(({ kind }) => kind !== "watch") }
    },
  }
}

/** Each integration with its last report; those that can be changed need a place for a new key. */
export const IntegrationList = ({ changed, shown }: IntegrationListProps) => (
  <NamedList<Integration>
    label="Integrations"
    list={listIntegrations()}
    heads={["Name", "Kind", "Last report", ""]}
    empty={["No integrations yet", "Cron jobs and other monitors report through one."]}
  >
    {(item) => ({
      subject: (
        <>
          by {item.created_by}
          {item.last_refusal !== null && refusalOf(item.last_refusal)}
        </>
      ),
      label: <em class="taker">{item.kind}</em>,
      note: item.is_closed ? "key blocked" : undefined,
      when: <Last did="reported" at={item.last_request_at} never="no report yet" />,
      actions: shown !== undefined && (
        <NamedActions kind={INTEGRATIONS} item={item} changed={changed} shown={shown} />
      ),
    })}
  </NamedList>
)

const IntegrationForm = ({ changed, shown }: Required<IntegrationListProps>) => {
  const former = changed.value
  const options: FormField = {
    label: "Options (JSON)",
    initial: former === undefined ? "" : JSON.stringify(former.options),
    example: ({ kind = "" }) => OPTIONS[kind],
  }
  return (
    <NamedForm
      kind={INTEGRATIONS}
      changed={changed}
      shown={shown}
      fields={
        former === undefined
          ? { kind: { label: "Kind", options: KINDS, initial: "ping" }, options }
          : { options }
      }
      bodyOf={({ kind, options: text = "" }) => ({
        ...(kind !== undefined && { kind }),
        options: optionsIn(text),
      })}
    />
  )
}

/** Reports of senders that do not speak the API. */
export const Integrations = () => {
  const shown = useSignal<Secret | undefined>(undefined)
  const changed = useSignal<Integration | undefined>(undefined)
  return (
    <>
      <h1>Integrations</h1>
      {mayAdminister.value && <IntegrationForm changed={changed} shown={shown} />}
      {mayAdminister.value && (
        <p class="lead">
          Senders report by requesting an address, without an agent. Each check appears with its first report.
        </p>
      )}
      <ShownOnce of={shown} />
      <IntegrationList changed={changed} shown={shown} />
    </>
  )
}
