import { useSignal } from "@preact/signals"
import type { PolicyItem } from "../state/policyText.ts"
import { linkTo, toggled } from "../state/Route.ts"
import { Box, Field } from "../view/forms.tsx"

const SEVERITIES = [
  ["", "everything"],
  ["severity = critical", "critical"],
  ["severity != critical", "all but critical"],
  ["severity != warning", "all but warnings"],
] as const

const SUBJECTS = [
  ["", "everything"],
  ["check_id glob ", "checks named like"],
  ["agent_id glob ", "agents named like"],
  ["label:", "agents with the label"],
] as const
const EXAMPLES: Readonly<Record<string, string>> = {
  "check_id glob ": "backup*",
  "agent_id glob ": "web-*",
  "label:": "team = db",
}

const DELAYS = [
  ["", "immediately"],
  ["5m", "after 5 min"],
  ["15m", "after 15 min"],
  ["1h", "after an hour"],
] as const

interface RouteFormProps {
  /** The names of receivers and rotas. */
  readonly names: ReadonlyArray<string>
  readonly add: (item: PolicyItem) => void
}

/** Writes a route without knowing how: what is sent to whom, and after how long. */
export const RouteForm = ({ names, add }: RouteFormProps) => {
  const [severity, subject, value, after] = [useSignal(""), useSignal(""), useSignal(""), useSignal("")]
  const to = useSignal<ReadonlyArray<string>>([])
  if (names.length === 0)
    return (
      <p>
        <a href={linkTo("receivers")}>Add a receiver</a> first: routes name receivers.
      </p>
    )
  const write = () => {
    const about = subject.value === "" || value.value.trim() === "" ? "" : subject.value + value.value.trim()
    const match = [severity.value, about].filter((text) => text !== "")
    const route = {
      ...(match.length > 0 && { match }),
      ...(after.value !== "" && { after: after.value }),
      to: names.filter((name) => to.value.includes(name)),
    }
    add({ key: "routes", value: route })
    to.value = []
  }
  return (
    <section class="route-form" aria-label="Add a route">
      <div class="form-row">
        <Field
          label="Send"
          options={SEVERITIES}
          value={severity.value}
          onText={(text) => (severity.value = text)}
        />
        <Field
          label="of"
          options={SUBJECTS}
          value={subject.value}
          onText={(text) => (subject.value = text)}
        />
        {subject.value !== "" && (
          <Field
            label="which"
            placeholder={EXAMPLES[subject.value]}
            value={value.value}
            onText={(text) => (value.value = text)}
          />
        )}
        <Field label="when" options={DELAYS} value={after.value} onText={(text) => (after.value = text)} />
        <span class="filters" role="group" aria-label="to">
          to
          {names.map((name) => (
            <Box
              key={name}
              label={name}
              isOn={to.value.includes(name)}
              onChange={() => (to.value = toggled(to.value, name))}
            />
          ))}
        </span>
        <button type="button" class="quiet" disabled={to.value.length === 0} onClick={write}>
          Add this route
        </button>
      </div>
      <p class="lead">
        Every route that matches applies. What no route matches goes to every receiver, immediately. A late
        job and a silent host are <i>unknown</i>: <i>all but warnings</i> has them beside what is critical.
      </p>
    </section>
  )
}
