import { type Signal, useSignal } from "@preact/signals"
import type { PolicyItem } from "../state/policyText.ts"
import { linkTo } from "../state/Route.ts"
import { Fields } from "../view/Fields.tsx"
import { Box, Choices } from "../view/boxes.tsx"
import { bound, Field } from "../view/forms.tsx"

const SEVERITIES = [["", "everything"], ["critical"], ["warning", "warnings"]] as const

/** The matcher of a severity: without the other one, it has those that are unknown too. */
const severityMatch = (severity: string, hasUnknown: boolean): string =>
  severity === "" || !hasUnknown
    ? severity && `severity = ${severity}`
    : `severity != ${severity === "critical" ? "warning" : "critical"}`

/** The choices of a line of a page: no line has everything. */
const NAMED = [
  ["check_id glob ", "checks named like"],
  ["agent_id glob ", "agents named like"],
  ["label:", "agents with the label"],
] as const
const SUBJECTS = [["", "everything"], ...NAMED] as const
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

/** The checks that a matcher names: how, and by which text. */
interface About {
  readonly subject: Signal<string>
  readonly value: Signal<string>
}
export const NAMED_FIRST = NAMED[0][0]
export const useAbout = (first: string): About => ({ subject: useSignal(first), value: useSignal("") })

/** The matcher; empty for everything. */
export const matchOf = ({ subject, value }: About): string =>
  subject.value === "" || value.value.trim() === "" ? "" : subject.value + value.value.trim()

interface SubjectProps {
  readonly about: About
  /** Whether everything is no choice. */
  readonly isNamed?: boolean
}

export const SubjectFields = ({ about: { subject, value }, isNamed = false }: SubjectProps) => (
  <>
    <Field label="of" options={isNamed ? NAMED : SUBJECTS} {...bound(subject)} />
    {subject.value !== "" && <Field label="which" placeholder={EXAMPLES[subject.value]} {...bound(value)} />}
  </>
)

interface SeverityProps {
  readonly severity: Signal<string>
  readonly hasUnknown: Signal<boolean>
}

const SeverityFields = ({ hasUnknown, severity }: SeverityProps) => (
  <>
    <Field label="Send" options={SEVERITIES} {...bound(severity)} />
    {severity.value !== "" && (
      <span class="filters">
        <Box
          label="and unknown: late jobs"
          isOn={hasUnknown.value}
          onChange={(isOn) => (hasUnknown.value = isOn)}
        />
      </span>
    )}
  </>
)

interface RouteFormProps {
  /** The names of receivers and rotas. */
  readonly names: ReadonlyArray<string>
  readonly add: (item: PolicyItem) => void
}

/** Writes a route without knowing how: what is sent to whom, and after how long. */
export const RouteForm = ({ names, add }: RouteFormProps) => {
  const [severity, after, about] = [useSignal(""), useSignal(""), useAbout("")]
  const to = useSignal<ReadonlyArray<string>>([])
  const hasUnknown = useSignal(true)
  if (names.length === 0)
    return (
      <p>
        <a href={linkTo("receivers")}>Add a receiver</a> first: routes name receivers.
      </p>
    )
  const write = () => {
    const match = [severityMatch(severity.value, hasUnknown.value), matchOf(about)].filter(
      (text) => text !== "",
    )
    const route = {
      ...(match.length > 0 && { match }),
      ...(after.value !== "" && { after: after.value }),
      to: names.filter((name) => to.value.includes(name)),
    }
    add({ key: "routes", value: route })
    // The next one is about something else.
    for (const written of [severity, after, about.subject, about.value]) written.value = ""
    hasUnknown.value = true
    to.value = []
  }
  return (
    <Fields class="route-form" aria-label="Add a route">
      <div class="form-row">
        <SeverityFields {...{ hasUnknown, severity }} />
        <SubjectFields about={about} />
        <Field label="when" options={DELAYS} {...bound(after)} />
        <span class="filters" role="group" aria-label="to">
          to
          <Choices names={names} of={to} />
        </span>
        <button type="submit" class="quiet" disabled={to.value.length === 0} onClick={write}>
          Add this route
        </button>
      </div>
      <p class="lead">
        Every route that matches applies; a receiver gets one message. What no route matches goes to every
        receiver, immediately. A late job counts as <i>unknown</i>, as does a check that cannot tell: without
        the tick, a route of <i>critical</i> leaves them out. A silent host is <i>critical</i>.
      </p>
    </Fields>
  )
}
