import type { CheckExplanation, IntegrationWithKey } from "@tocsin/client"
import type { Part } from "../../parts.ts"
import type { Texts } from "../../view/FormField.ts"
import { Form } from "../../view/forms.tsx"
import { createNamed } from "../../view/Named.tsx"
import { NamedList } from "../../view/NamedList.tsx"
import { keptSecret, ShownOnce } from "../../view/states.tsx"
import { reporting } from "./Contact.tsx"
import { INTEGRATIONS, Integrations, Job, textsOf } from "./Integrations.tsx"
import { ResolveCheck } from "./ResolveCheck.tsx"

const linesOfPrometheus = keptSecret()

const Prometheus = () => {
  const add = ({ name }: Texts) => {
    const secretOf = (made: IntegrationWithKey) => ({
      title: "Add this to the configuration of Prometheus, and the rule to its rules",
      texts: textsOf(made).slice(0, 2),
    })
    const body = { name, kind: "alertmanager", options: { watchdog: "Watchdog" } }
    return createNamed({ ...INTEGRATIONS, secretOf }, body, linesOfPrometheus)
  }
  return (
    <>
      <p>Prometheus, vmalert, Loki and Grafana send their alerts here as to an Alertmanager.</p>
      <Form
        fields={{ name: { label: "Name", initial: "prometheus" } }}
        acts={[["Make its lines", add, "main"]]}
      />
      <ShownOnce of={linesOfPrometheus} />
    </>
  )
}

const Jobs = () => (
  <>
    <Job />
    <NamedList of={INTEGRATIONS} />
  </>
)

/** The act on a check that a sender reports. */
const Resolve = ({ check }: CheckExplanation) => {
  reporting.useCurrent()
  return check.state === "ok" ? null : <ResolveCheck {...check} />
}

export const part = {
  pages: [["integrations 0", Integrations]],
  check: { act: (found) => <Resolve {...found} /> },
  ways: [
    ["job", "A cron job", Jobs],
    ["prometheus", "What Prometheus alerts on", Prometheus],
  ],
} satisfies Part
