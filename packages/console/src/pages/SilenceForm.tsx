import { useSignal } from "@preact/signals"
import type { IncidentDetail } from "@tocsin/client"
import { useEffect } from "preact/hooks"
import { isUnreached } from "../api/ApiFailure.ts"
import { segment } from "../api/request.ts"
import { countText, momentText } from "../format/times.ts"
import { now } from "../state/clock.ts"
import { titleOf } from "../state/incidentActs.ts"
import { route, setParameters } from "../state/location.ts"
import { matchersText, type Matcher, parseMatchers } from "../state/matchers.ts"
import { parseSelection } from "../state/selection.ts"
import { call } from "../state/session.ts"
import { create, type NewSilences, preview } from "../state/silenceActs.ts"
import { useResource } from "../state/useResource.ts"
import { ActButton } from "../view/ActButton.tsx"
import { FailureNote } from "../view/states.tsx"

const SPANS = ["30m", "1h", "2h", "4h", "8h", "1d", "3d", "7d"]
const SPAN = /^[1-9]\d{0,5}(?:s|m|h|d)$/
/** While somebody types, the preview waits for a pause. */
const TYPING_MILLIS = 250

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** When the silences would end. */
const Ends = ({ silences: { span, startsAt } }: { readonly silences: NewSilences }) => {
  const begin = startsAt === undefined ? now.value : Date.parse(startsAt)
  const end = begin + Number(span.slice(0, -1)) * (UNITS[span.slice(-1)] ?? 0)
  return <p class="lead">Ends {momentText(end)}.</p>
}

const keyMatchers = (incident_key: string): ReadonlyArray<Matcher> => [
  { field: "incident_key", op: "=", value: incident_key },
]

/** The incidents that the address names, to be silenced by their keys. */
const useIncidents = (ids: ReadonlyArray<string>) =>
  useResource(`to silence ${ids.join()}`, [], async (signal) => {
    const found: Array<IncidentDetail["incident"]> = []
    for (const id of ids) {
      const { incident } = await call<IncidentDetail>("GET", `ops/v1/incidents/${segment(id)}`, { signal })
      found.push(incident)
    }
    return found
  })

const Preview = ({ silences }: { readonly silences: NewSilences }) => {
  const asked = useSignal(silences)
  const text = JSON.stringify([silences.lists, silences.span, silences.startsAt])
  useEffect(() => {
    const timer = setTimeout(() => (asked.value = silences), TYPING_MILLIS)
    return () => clearTimeout(timer)
  }, [text])
  const { lists, span, startsAt } = asked.value
  const { value, failure } = useResource(
    `preview ${JSON.stringify([lists, span, startsAt])}`,
    ["incidents", "agents"],
    (signal) => preview({ lists, span, startsAt, comment: "" }, signal),
  )
  if (failure !== undefined && !isUnreached(failure)) return <FailureNote failure={failure} />
  return (
    <p role="status" class="preview">
      {value === undefined
        ? "Counting …"
        : `${countText(value.open_incidents, "incident")}, ${countText(value.agents, "agent")}`}
      {value !== undefined && value.held_now > 0 && (
        <small> {countText(value.held_now, "notification")} would be held now</small>
      )}
    </p>
  )
}

/** Creates silences: of what matchers say, or of the incidents that the address names. */
export const SilenceForm = () => {
  const ids = parseSelection(route.value.parameters["incidents"])
  const { value: incidents = [], failure } = useIncidents(ids)
  const text = useSignal(route.value.parameters["matchers"] ?? "")
  const span = useSignal("2h")
  const starts = useSignal("")
  const comment = useSignal("")
  const isSingle = incidents.length === 1
  const [first] = incidents
  useEffect(() => {
    if (isSingle && first !== undefined) text.value = matchersText(keyMatchers(first.incident_key))
  }, [isSingle, first?.id])
  const { matchers, fault } = parseMatchers(text.value)
  const lists =
    incidents.length > 1
      ? incidents.map(({ incident_key }) => keyMatchers(incident_key))
      : matchers.length > 0
        ? [matchers]
        : []
  const begin = starts.value === "" ? undefined : new Date(starts.value)
  const silences: NewSilences = {
    lists,
    span: span.value.trim(),
    startsAt: begin === undefined || Number.isNaN(begin.getTime()) ? undefined : begin.toISOString(),
    comment: comment.value.trim(),
  }
  const isSpan = SPAN.test(silences.span)
  return (
    <section class="silence-form" aria-label="New silence">
      {failure !== undefined && <FailureNote failure={failure} />}
      {incidents.length > 1 ? (
        <ul class="subjects" aria-label="To be silenced">
          {incidents.map((incident) => (
            <li key={incident.id}>
              <code>{incident.incident_key}</code> {titleOf(incident)}
            </li>
          ))}
        </ul>
      ) : (
        <label>
          Matchers, one a line
          <textarea
            rows={2}
            placeholder={"agent_id glob web-*\nlabel:env = prod"}
            value={text}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </label>
      )}
      <div class="form-row">
        <label>
          For
          <input
            class="short"
            list="spans"
            value={span}
            aria-invalid={!isSpan}
            onInput={(event) => (span.value = event.currentTarget.value)}
          />
          <datalist id="spans">
            {SPANS.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </label>
        <label>
          Starts
          <input
            type="datetime-local"
            value={starts}
            onInput={(event) => (starts.value = event.currentTarget.value)}
          />
        </label>
        <label class="wide">
          Comment
          <input
            value={comment}
            maxLength={1024}
            onInput={(event) => (comment.value = event.currentTarget.value)}
          />
        </label>
        <ActButton
          kind="main"
          isDisabled={lists.length === 0 || !isSpan || silences.comment === ""}
          does={async () => {
            const done = await create(silences)
            if (done === undefined) return undefined
            text.value = ""
            comment.value = ""
            starts.value = ""
            setParameters({ incidents: "", matchers: "" })
            return done
          }}
        >
          Silence
        </ActButton>
      </div>
      {fault !== undefined && (
        <p class="failure" role="alert">
          {fault}
        </p>
      )}
      {!isSpan && (
        <p class="failure" role="alert">
          “{span.value}” is not a duration such as 30m, 2h or 1d.
        </p>
      )}
      {isSpan && <Ends silences={silences} />}
      {lists.length > 0 && isSpan && <Preview silences={silences} />}
    </section>
  )
}
