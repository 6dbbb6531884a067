import { type Signal, useSignal } from "@preact/signals"
import type { IncidentDetail } from "@tocsin/client"
import { limitsAgents } from "@tocsin/contract/labels/matcherText"
import { isUnreached } from "../../api/ApiFailure.ts"
import { segment } from "../../api/request.ts"
import { countText, momentText } from "../../format/times.ts"
import { now } from "../../state/clock.ts"
import { nameOf } from "../../state/incidentActions.ts"
import { route, setParameters } from "../../state/location.ts"
import { parseSelection } from "../../state/Route.ts"
import { forgetDrafts, useDraft } from "../../state/drafts.ts"
import { call, token } from "../../state/session.ts"
import {
  create,
  keyMatchers,
  matchersText,
  type NewSilences,
  oneOfEachKey,
  parseMatchers,
  preview,
  noEnd,
  readEnd,
} from "./silenceActions.ts"
import { useLater } from "../../state/useLater.ts"
import { decide } from "../../pages/decide.ts"
import { Dialog } from "../../view/Dialog.tsx"
import { Fields } from "../../view/Fields.tsx"
import { ActionButton, bound, Fault, Field, GivesUp } from "../../view/forms.tsx"
import { Loaded } from "../../view/Script.tsx"
import { FailureNote } from "../../view/states.tsx"
import { useResource } from "../../view/usePages.ts"

const SPANS = ["30m", "1h", "2h", "4h", "8h", "1d", "3d", "7d", "08:00"]
/** While the operator types, the preview waits for a pause. */
const TYPING_MILLIS = 250

/** Above so many, no change reads the preview again: it takes a request for each silence. */
const MANY = 10

/** The incidents that the address names, to be silenced by their keys. */
const useIncidents = (ids: ReadonlyArray<string>) =>
  useResource(`to silence ${ids.join()}`, [], async () => {
    const found: Array<IncidentDetail["incident"]> = []
    for (const id of ids) {
      const { incident } = await call<IncidentDetail>("GET", `ops/v1/incidents/${segment(id)}`)
      found.push(incident)
    }
    return oneOfEachKey(found)
  })

const Preview = ({ silences }: { readonly silences: NewSilences }) => {
  const asked = useSignal(silences)
  const text = JSON.stringify([silences.lists, silences.ends, silences.startsAt])
  useLater(() => (asked.value = silences), TYPING_MILLIS, [text])
  const { lists, ends, startsAt } = asked.value
  const { value, failure } = useResource(
    `preview ${JSON.stringify([lists, ends, startsAt])}`,
    lists.length > MANY ? [] : ["incidents", "agents"],
    () => preview({ lists, ends, startsAt, comment: "" }),
  )
  const isLimited = lists.every((matchers) => matchers.some(limitsAgents))
  const counts = value && [
    countText(value.open_incidents, "open incident"),
    // Without a matcher on agents, these are all agents, of which only matching incidents are silenced.
    ...(isLimited ? [countText(value.agents, "agent")] : []),
  ]
  const isNothing = value?.open_incidents === 0 && !(isLimited && value.agents > 0)
  if (failure !== undefined && !isUnreached(failure)) return <FailureNote failure={failure} />
  return (
    <p role="status" class={isNothing ? "preview is-warning" : "preview"}>
      {counts === undefined
        ? "Counting …"
        : `${startsAt === undefined ? "It covers" : "If it began now, it would cover"} ${counts.join(" and ")}`}
      {value !== undefined && startsAt === undefined && value.held_now > 0 && (
        <small> {countText(value.held_now, "notification")} would be held now</small>
      )}
      {isNothing && <small> Nothing matches now. Are the names right?</small>}
    </p>
  )
}

type Incidents = ReadonlyArray<IncidentDetail["incident"]>

/** The values of the fields, and the silences that they make so far. */
const useForm = (incidents: Incidents) => {
  const { matchers: wanted = "" } = route.value.parameters
  const [first] = incidents
  const given = incidents.length === 1 && first !== undefined ? keyMatchers(first.incident_key) : undefined
  const lines = given === undefined ? wanted.split("\n").filter((line) => line !== "") : [matchersText(given)]
  const match = useSignal<ReadonlyArray<string>>(lines)
  const form = `silence ${JSON.stringify([wanted, incidents.map(({ id }) => id)])}`
  const span = useDraft(form, "span", "2h")
  const starts = useDraft(form, "start", "")
  const comment = useDraft(form, "comment", "")
  /** The keys that were silenced before a failure: to try again must not silence them twice. */
  const made = useDraft<ReadonlyArray<string>>(form, "made", [])
  const left = incidents.filter(({ incident_key }) => !made.value.includes(incident_key))
  const { matchers, fault } = parseMatchers(match.value.join("\n"), given)
  const lists =
    incidents.length > 1
      ? left.map(({ incident_key }) => keyMatchers(incident_key))
      : matchers.length > 0
        ? [matchers]
        : []
  const begin = Date.parse(starts.value)
  // The service takes a start in the past as now.
  const startsAt = begin > now.value ? new Date(begin).toISOString() : undefined
  const end = readEnd(span.value.trim(), startsAt === undefined ? now.value : begin)
  const silences: NewSilences | undefined =
    end && lists.length > 0 ? { lists, ends: end.ends, startsAt, comment: comment.value.trim() } : undefined
  const missing = [
    ...(lists.length === 0 && fault === undefined ? ["checks"] : []),
    ...(comment.value.trim() === "" ? ["a comment"] : []),
  ]
  return { form, incidents, left, match, span, starts, comment, made, fault, begin, end, silences, missing }
}

type Form = ReturnType<typeof useForm>

interface SubjectsProps extends Pick<Form, "form" | "incidents" | "left" | "match"> {
  readonly isAwaited: Signal<boolean>
}

const Subjects = ({ form, incidents, isAwaited, left, match }: SubjectsProps) =>
  incidents.length > 1 ? (
    <ul class="subjects" aria-label="To be silenced">
      {left.map((incident) => (
        <li key={incident.id}>
          <b>{nameOf(incident)}</b> <code>{incident.incident_key}</code>
        </li>
      ))}
    </ul>
  ) : (
    <Loaded
      of={decide}
      draw={({ MatchField }) => <MatchField of={match} isAwaited={isAwaited} form={form} />}
    />
  )

const Ending = ({ begin, end, missing, span }: Pick<Form, "begin" | "end" | "missing" | "span">) =>
  end === undefined ? (
    <Fault text={noEnd(span.value)} />
  ) : (
    <p class="lead">
      {begin <= now.value && "Starts now. "}
      Ends {momentText(end.at, now.value)}.{missing.length > 0 && ` Still missing: ${missing.join(", ")}.`}
    </p>
  )

const close = (): void => {
  // A page that ends with its token comes back with what was typed.
  if (token.peek() !== "") setParameters({ incidents: "", matchers: "", new: "" })
}

const submit = async ({ form, silences, made }: Form) => {
  if (silences === undefined) return undefined
  const keys: Array<string> = []
  const done = await create(silences, (created) => {
    keys.push(...created.map(({ value }) => value))
  }).finally(() => (made.value = [...made.value, ...keys]))
  if (done === undefined) return undefined
  forgetDrafts(form)
  close()
  return done
}

const SilenceFields = ({ incidents }: { readonly incidents: Incidents }) => {
  const form = useForm(incidents)
  const isAwaited = useSignal(false)
  const { span, starts, comment, fault, end, silences } = form
  return (
    <Fields>
      <Subjects {...form} isAwaited={isAwaited} />
      <div class="form-row">
        <label>
          For
          <input
            class="short"
            list="spans"
            value={span}
            title="A duration such as 2h, or a time such as 08:00"
            aria-invalid={end === undefined}
            onInput={(event) => (span.value = event.currentTarget.value)}
          />
          <datalist id="spans">
            {SPANS.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </label>
        <Field
          label="Comment"
          isWide
          required
          placeholder="why, for the others"
          maxLength={1024}
          {...bound(comment)}
        />
      </div>
      <details open={starts.value !== ""}>
        <summary>More</summary>
        <Field label="Starts" type="datetime-local" {...bound(starts)} />
      </details>
      <Fault text={fault ?? ""} />
      <Ending {...form} />
      {silences !== undefined && <Preview silences={silences} />}
      <div class="actions">
        <ActionButton
          kind="main"
          isDisabled={isAwaited.value || silences === undefined || silences.comment === ""}
          does={() => submit(form)}
        >
          Silence
        </ActionButton>
        <GivesUp form={form.form} does={close} />
      </div>
    </Fields>
  )
}

/** Creates silences: of the checks that one names, or of the incidents that the address names. */
export const SilenceForm = () => {
  const { value: incidents, failure } = useIncidents(parseSelection(route.value.parameters["incidents"]))
  if (failure !== undefined) return <FailureNote failure={failure} />
  if (incidents === undefined) return null
  return (
    // Its first field has the focus, so all of them are there when it opens.
    <Loaded
      of={decide}
      draw={() => (
        <Dialog name="New silence" onClose={close}>
          <h2>New silence</h2>
          <SilenceFields incidents={incidents} />
        </Dialog>
      )}
    />
  )
}
