import type { Signal } from "@preact/signals"
import { useDraft } from "../state/drafts.ts"
import { naturally } from "../state/names.ts"
import type { Policy } from "../state/policyEntries.ts"
import { linkTo } from "../state/Route.ts"
import { Choices } from "../view/boxes.tsx"
import { ChecksField, useChecks } from "../view/ChecksField.tsx"
import { bound, Field, QuietButton } from "../view/forms.tsx"
import { PolicyDialog, type PolicyFormProps, useEntry } from "../view/PolicyDialog.tsx"

export type PolicyRoute = NonNullable<Policy["routes"]>[number]

/** A later step, as a form changes it. */
interface Step {
  readonly after: string
  readonly to: ReadonlyArray<string>
}

interface StepsProps {
  /** The names of receivers and rotas. */
  readonly names: ReadonlyArray<string>
  readonly steps: Signal<ReadonlyArray<Step>>
}

const Steps = ({ names, steps }: StepsProps) => {
  const write = (place: number, ...written: ReadonlyArray<Step>) =>
    (steps.value = steps.value.toSpliced(place, 1, ...written))
  return (
    <>
      {steps.value.map((step, place) => (
        <div class="form-row" role="group" aria-label={`Step ${place + 2}`} key={place}>
          <b>Step {place + 2}</b>
          <Field
            label="After"
            placeholder="15m"
            value={step.after}
            onText={(after) => write(place, { ...step, after })}
          />
          <span class="filters">
            <Choices names={names} chosen={step.to} onChange={(to) => write(place, { ...step, to })} />
          </span>
          <QuietButton describes={`Remove step ${place + 2}`} does={() => write(place)}>
            Remove
          </QuietButton>
        </div>
      ))}
      <p>
        <QuietButton does={() => (steps.value = [...steps.value, { after: "", to: [] }])}>
          Add a step
        </QuietButton>
      </p>
    </>
  )
}

/** The fields of a route, with the values that it has. */
const useFields = (form: string, { match, after = "", remind = "", steps, to }: PolicyRoute) => {
  const [first, ...later] = steps ?? []
  return {
    checks: useChecks(form, match),
    wait: useDraft(form, "wait", after),
    remind: useDraft(form, "remind", remind),
    to: useDraft<ReadonlyArray<string>>(form, "to", to ?? first?.to ?? []),
    steps: useDraft<ReadonlyArray<Step>>(
      form,
      "steps",
      later.map(({ after: waits = "", to: followers }) => ({ after: waits, to: followers })),
    ),
  }
}

/** The route that the fields say. One step stays a step where it was one. */
const routeOf = ({ checks, remind, steps, to, wait }: ReturnType<typeof useFields>, former: PolicyRoute) => {
  const later = steps.value.map(({ after, to: followers }) => ({ after: after.trim(), to: followers }))
  const hasSteps = later.length > 0 || former.steps !== undefined
  return {
    ...(checks.match.length > 0 && { match: checks.match }),
    ...(hasSteps ? { steps: [{ to: to.value }, ...later] } : to.value.length > 0 && { to: to.value }),
    ...(wait.value.trim() !== "" && { after: wait.value.trim() }),
    ...(remind.value.trim() !== "" && { remind: remind.value.trim() }),
  }
}

/** Writes a route: which checks are sent to whom, after how long, and who follows. */
export const RouteForm = (props: PolicyFormProps) => {
  const { name: form, policy } = props
  const entry = useEntry<PolicyRoute>(props)
  const former = entry.value?.value ?? {}
  const fields = useFields(form, former)
  const { match: _, after: __, remind: ___, steps: ____, to, ...kept } = former
  const names = [
    ...policy.receivers.map(({ name }) => name).toSorted(naturally((name) => name)),
    ...Object.keys(policy.policy.rotas ?? {}),
  ]
  // A route without receivers has all of them.
  const hasAll = entry.value !== undefined && to === undefined && former.steps === undefined
  const missing = [
    ...(fields.to.value.length === 0 && !hasAll ? ["to whom"] : []),
    ...fields.steps.value.flatMap(({ after, to: later }, place) =>
      after.trim() === "" || later.length === 0 ? [`after what and to whom in step ${place + 2}`] : [],
    ),
  ]
  return (
    <PolicyDialog
      {...props}
      isAwaited={fields.checks.isAwaited}
      isOfNone={fields.checks.isOfNone}
      title={entry.value === undefined ? "Add a route" : "Change a route"}
      path={["routes", "-"]}
      value={{ ...kept, ...routeOf(fields, former) }}
      {...{ entry, kept, missing }}
    >
      <div class="form-row">
        <ChecksField {...fields.checks.field} />
        <span class="filters" role="group" aria-label="To">
          To
          <Choices names={names} chosen={fields.to.value} onChange={(chosen) => (fields.to.value = chosen)} />
        </span>
        {names.length === 0 && <a href={linkTo("receivers")}>Add a receiver first</a>}
        <Field label="Wait" placeholder="0s" {...bound(fields.wait)} />
        <Field label="Remind" placeholder="4h" {...bound(fields.remind)} />
      </div>
      <Steps names={names} steps={fields.steps} />
      <p class="lead">
        Without checks, it is about everything; <code>severity != warning</code> leaves out what only warns.
      </p>
    </PolicyDialog>
  )
}
