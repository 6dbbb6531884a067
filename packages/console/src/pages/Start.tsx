import { useSignal } from "@preact/signals"
import type { IntegrationWithKey, PolicyInForce } from "@tocsin/client"
import type { ComponentChildren } from "preact"
import { linkTo } from "../state/Route.ts"
import { base, mayAdminister } from "../state/session.ts"
import { summary } from "../state/summary.ts"
import { CopyText, Field, Form, type Secret, ShownOnce, type Texts } from "../view/forms.tsx"
import { createNamed, NamedList } from "../view/Named.tsx"
import { Empty } from "../view/states.tsx"
import { useRead } from "../view/usePages.ts"
import { AddHosts, AdmissionList } from "./Admission.tsx"
import { INTEGRATIONS, Job, textsOf } from "./Integrations.tsx"
import { Notifiers } from "./System.tsx"
import { WatchTable } from "./Watches.tsx"

/** An address within single quotes of a shell. */
const quotable = (address: string): string => address.replace(/\/$/, "").replaceAll("'", "%27")

/** The commands that run an agent from a clone, with this server's address. */
const cloneCommand = (address: string): string =>
  `mkdir -p data/agent
echo '{ server: "${quotable(address)}", checks: { disk: { disk: {} } } }' > data/agent/config.yaml
npm run -s agent -- start --config data/agent/config.yaml --state data/agent/state`

/** The command that sends one result without the agent. */
const shellCommand = (address: string): string =>
  `TOCSIN_URL='${quotable(address)}' sh agent.sh load sh -c 'uptime; exit 0'`

const Hosts = () => (
  <>
    <p>
      The line runs the agent on a host with Node.js, and admits it by its token. The packages of{" "}
      <a href={`${base}console/agent.md`}>the agent</a> need no Node.js, and take the same token.
    </p>
    <AddHosts />
    <details>
      <summary>Without a token: compare fingerprints</summary>
      <p>In a clone of Tocsin, on the host to watch:</p>
      <CopyText text={cloneCommand(base)} />
      <p>
        With nothing but a shell, curl and <code>examples/agent.sh</code>:
      </p>
      <CopyText text={shellCommand(base)} />
    </details>
    <AdmissionList isFirst />
  </>
)

const Prometheus = () => {
  const shown = useSignal<Secret | undefined>(undefined)
  const add = ({ name }: Texts) => {
    const secretOf = (made: IntegrationWithKey) => ({
      title: "Add this to the configuration of Prometheus, and the rule to its rules",
      texts: textsOf(made).slice(0, 2),
    })
    const body = { name, kind: "alertmanager", options: { watchdog: "Watchdog" } }
    return createNamed({ ...INTEGRATIONS, secretOf }, body, shown)
  }
  return (
    <>
      <p>Prometheus, vmalert, Loki and Grafana send their alerts here as to an Alertmanager.</p>
      <Form
        fields={{ name: { label: "Name", initial: "prometheus" } }}
        acts={[["Make its lines", add, "main"]]}
      />
      <ShownOnce of={shown} />
    </>
  )
}

/** A secret that signs webhooks. */
const randomSecret = (): string =>
  `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`

/** Types of receivers: the settings that define one without a policy, and its line in a policy. */
const RECEIVERS: Readonly<Record<string, readonly [settings: string, inPolicy: string]>> = {
  "E-mail": [
    `SERVICE_SMTP_URL=smtp://USER:PASSWORD@mail.example.org:587
SERVICE_EMAIL_FROM=tocsin@example.org
SERVICE_EMAIL_TO=you@example.org`,
    `mail: { kind: messenger, type: email, url_env: TOCSIN_SECRET_MAIL, from: tocsin@example.org, to: [you@example.org] }`,
  ],
  "Slack or Mattermost": [
    "SERVICE_MESSENGER_URL=https://hooks.slack.com/services/T000/B000/KEY",
    "slack: { kind: messenger, url_env: TOCSIN_SECRET_SLACK }",
  ],
  "ntfy: a phone": [
    "SERVICE_NTFY_URL=https://ntfy.sh/TOPIC",
    "ntfy: { kind: messenger, type: ntfy, url_env: TOCSIN_SECRET_NTFY }",
  ],
  Discord: [
    "SERVICE_DISCORD_URL=https://discord.com/api/webhooks/ID/TOKEN",
    "discord: { kind: messenger, type: discord, url_env: TOCSIN_SECRET_DISCORD }",
  ],
  "Microsoft Teams": [
    "SERVICE_TEAMS_URL=https://example.logic.azure.com/workflows/ID",
    "teams: { kind: messenger, type: teams, url_env: TOCSIN_SECRET_TEAMS }",
  ],
  PagerDuty: [
    "SERVICE_PAGERDUTY_KEY=ROUTING_KEY",
    "pagerduty: { kind: alert_router, type: pagerduty, routing_key_env: TOCSIN_SECRET_PAGERDUTY }",
  ],
  Webhook: [
    `SERVICE_WEBHOOK_URL=https://example.org/hook\nSERVICE_WEBHOOK_SECRET=${randomSecret()}`,
    "webhook: { kind: webhook, url_env: TOCSIN_SECRET_HOOK, secret_env: TOCSIN_SECRET_HOOK_KEY }",
  ],
  Alertmanager: [
    "SERVICE_ALERT_ROUTER_URL=http://alertmanager.example.org:9093",
    "alertmanager: { kind: alert_router, url_env: TOCSIN_SECRET_ALERTMANAGER }",
  ],
}
const FROM_POLICY = "tocsin policy get > policy.yaml\ntocsin policy apply policy.yaml"

const Receivers = () => {
  const { value: policy } = useRead<PolicyInForce>("ops/v1/policy")
  const type = useSignal(Object.keys(RECEIVERS)[0] ?? "")
  const [settings = "", inPolicy = ""] = RECEIVERS[type.value] ?? []
  // Its receivers leave those of the settings out.
  const isInPolicy = policy?.policy.receivers !== undefined
  return (
    <>
      <p>The server notifies these receivers:</p>
      {policy !== undefined && <Notifiers policy={policy} letters={[]} />}
      <details>
        <summary>Add one</summary>
        <div class="form-row">
          <Field
            label="Type"
            options={Object.keys(RECEIVERS).map((each) => [each])}
            value={type.value}
            onText={(text) => (type.value = text)}
          />
        </div>
        {isInPolicy ? (
          <>
            <p>
              The policy defines the receivers. Give the server the variable that this line names, and add the
              line to them:
            </p>
            <CopyText text={inPolicy} />
            <p>These commands read the policy and replace it:</p>
            <CopyText text={FROM_POLICY} />
          </>
        ) : (
          <>
            <p>Start the server again with these settings, then press Test beside its name:</p>
            <CopyText text={`${settings.replaceAll("\n", " \\\n  ")} \\\n  npm start`} />
          </>
        )}
        <p>
          <a href={`${base}console/notifications.md`}>Notifications</a> lists all services, and a policy says
          who is notified when.
        </p>
      </details>
    </>
  )
}

interface StepProps {
  readonly title: string
  readonly isOpen?: boolean
  readonly children: ComponentChildren
}

const Step = ({ children, isOpen = false, title }: StepProps) => (
  <details open={isOpen}>
    <summary>
      <h3>{title}</h3>
    </summary>
    {children}
  </details>
)

/** Asks what to watch and where alerts go. Each step shows its result, and each can be left out. */
export const Start = () => (
  <section class="first" aria-labelledby="first">
    <h2 id="first">What should Tocsin watch?</h2>
    {mayAdminister.value ? (
      <>
        <Step title="A page or a port" isOpen>
          <WatchTable />
        </Step>
        <Step title="A host">
          <Hosts />
        </Step>
        <Step title="A cron job">
          <Job />
          <NamedList of={INTEGRATIONS} />
        </Step>
        <Step title="What Prometheus alerts on">
          <Prometheus />
        </Step>
      </>
    ) : (
      <Empty title="Only administrators add something to watch">Your token has another role.</Empty>
    )}
    <h2>Where should alerts go?</h2>
    <Receivers />
  </section>
)

export const StartPage = () => (
  <>
    <h1>Start</h1>
    <Start />
  </>
)

/** Without an open incident: nothing is wrong, or nothing was reported yet. */
export const NothingOpen = () => {
  const counts = summary.value
  const checks =
    counts === undefined
      ? 1
      : counts.checks_ok + counts.checks_warning + counts.checks_critical + counts.checks_unknown
  const more = <a href={linkTo("start")}>Watch more, or choose where alerts go</a>
  return checks === 0 ? (
    <Empty title="Waiting for the first results …">
      An accepted agent sends them within a minute, an integration when it first reports.{" "}
      <a href={linkTo("agents")}>See the agents</a> {more}
    </Empty>
  ) : (
    <Empty title="Nothing is wrong">
      Open incidents appear here, the worst first, within 2 seconds. {more}
    </Empty>
  )
}
