import { useSignal } from "@preact/signals"
import type { PolicyInForce, PolicyTrial } from "@tocsin/client"
import { countText, numberText } from "../format/times.ts"
import { route } from "../state/location.ts"
import { textOfPolicy } from "../state/policyText.ts"
import { base } from "../state/base.ts"
import { mayAdminister } from "../state/session.ts"
import { Difference } from "../view/Difference.tsx"
import { ActionButton, QuietButton } from "../view/forms.tsx"
import { chosen, Tabs } from "../view/navigation.tsx"
import { PolicyEditor } from "../view/PolicyEditor.tsx"
import { FailureNote, ReadingNote, Time } from "../view/states.tsx"
import { useRead } from "../view/usePages.ts"
import { type EditingProps, NOTHING, PATH, useCheck, useEditing, useVersions } from "./policyEditing.ts"
import { Versions } from "./PolicyVersions.tsx"
import { Routes } from "./Routes.tsx"

const TABS = [
  ["", "Text"],
  ["versions", "Versions"],
] as const

const Trial = ({ trial }: { readonly trial: PolicyTrial }) => (
  <section aria-label="Trial" class="trial">
    <p role="status">
      {trial.history_from === null ? (
        "Nothing was reported yet."
      ) : (
        <>
          <b>{countText(trial.messages.tried, "message")}</b> since <Time at={trial.since} /> with this text,{" "}
          {numberText(trial.messages.in_force)} with the policy in force, by{" "}
          {countText(trial.results, "result")} from <Time at={trial.history_from} /> on.
        </>
      )}
    </p>
    {trial.receivers.length > 0 && (
      <table>
        <thead>
          <tr>
            <th scope="col">Receiver</th>
            <th scope="col">This text</th>
            <th scope="col">In force</th>
          </tr>
        </thead>
        <tbody>
          {trial.receivers.map(({ in_force, receiver, tried }) => (
            <tr key={receiver}>
              <th scope="row">{receiver}</th>
              <td>{numberText(tried)}</td>
              <td>{numberText(in_force)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
    <details>
      <summary>Limits of this count</summary>
      <ul>
        {trial.unknown.map((limit) => (
          <li key={limit}>{limit}</li>
        ))}
      </ul>
    </details>
  </section>
)

const Editing = (props: EditingProps) => {
  const { policy, stored } = props
  const { apply, attempt, before, discard, edit, isOutdated, keep, mine, text, trial } = useEditing(props)
  const { check, failure, outcome } = useCheck(text)
  const isValid = check?.issues.length === 0
  return (
    <>
      <Routes policy={policy} />
      {isOutdated && (
        <p class="lost" role="status">
          <strong>Another policy came into force since you began.</strong> The changes below lead from it to
          your text. <QuietButton does={keep}>Keep mine</QuietButton>{" "}
          <QuietButton does={discard}>Take the other</QuietButton>
        </p>
      )}
      <PolicyEditor text={text} onText={edit} check={check} />
      <p id="outcome" role="status" class="preview">
        {text.trim() === "" ? NOTHING : outcome}
      </p>
      {failure !== undefined && <FailureNote failure={failure} />}
      <div class="form-row">
        <ActionButton kind="main" isDisabled={mine === undefined || !isValid} does={apply}>
          Apply
        </ActionButton>
        <ActionButton isDisabled={!isValid} does={attempt}>
          Try on 30 days
        </ActionButton>
        {mine !== undefined && <QuietButton does={discard}>Discard changes</QuietButton>}
        <a href={`${base}console/policy.md`}>All that a policy can say</a>
      </div>
      {trial.value?.text === text && <Trial trial={trial.value.result} />}
      {mine !== undefined && stored !== undefined && (
        <>
          <h2>Changes to version {stored.version}</h2>
          <Difference label="Changes" before={before} after={text} />
        </>
      )}
    </>
  )
}

const Editable = ({ policy }: Pick<EditingProps, "policy">) => {
  const [tab] = chosen(TABS, route.value.parameters["tab"])
  const reading = useVersions()
  // Its answer is there before it is read as the newest.
  const applied = useSignal<EditingProps["stored"]>(undefined)
  if (reading.value === undefined) return <ReadingNote reading={reading} />
  const { items, stored: read } = reading.value
  const stored = (applied.value?.version ?? 0) > (read?.version ?? 0) ? applied.value : read
  return (
    <>
      <ReadingNote reading={reading} />
      <Tabs label="Parts" parameter="tab" tabs={TABS} current={tab} />
      {tab === "versions" ? (
        <Versions items={items} />
      ) : (
        <Editing policy={policy} stored={stored} onApplied={(version) => (applied.value = version)} />
      )}
    </>
  )
}

/** The policy without the means to change it. */
const Fixed = ({ policy: inForce }: Pick<EditingProps, "policy">) => {
  const { fixed, policy } = inForce
  return (
    <>
      <p class="lead">
        {fixed === undefined ? "Administrators change it." : `It is not changed here: ${fixed}.`}
      </p>
      <Routes policy={inForce} />
      {Object.keys(policy).length === 0 ? <p>{NOTHING}</p> : <pre tabIndex={0}>{textOfPolicy(policy)}</pre>}
    </>
  )
}

export const Policy = () => {
  const reading = useRead<PolicyInForce>(PATH)
  const { value: policy } = reading
  return (
    <>
      <ReadingNote reading={reading} />
      {policy !== undefined &&
        (mayAdminister.value && policy.fixed === undefined ? (
          <Editable policy={policy} />
        ) : (
          <Fixed policy={policy} />
        ))}
    </>
  )
}
