import type { Signal } from "@preact/signals"
import type { IncidentDetail } from "@tocsin/client"
import { addNote, withdraw } from "../state/incidentActions.ts"
import { go } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { mayRespond, me } from "../state/session.ts"
import { type Act, useAction } from "../state/useAction.ts"
import type { Options } from "../view/FormField.ts"
import { ActionButton, bound, Field, QuietButton } from "../view/forms.tsx"
import { useWanted } from "../view/Keyboard.tsx"
import { StillHere } from "../view/StillHere.tsx"
import { width } from "../view/Listing.tsx"

const NoteForm = ({ id, text }: { readonly id: string; readonly text: Signal<string> }) => {
  const field = useWanted<HTMLTextAreaElement>("note")
  const { isBusy, run } = useAction()
  const hasKeys = width.value !== "narrow"
  const save = () =>
    run(async () => {
      const done = await addNote(id, text.value)
      text.value = ""
      return done
    })
  return (
    <div class="note-form">
      <label for="note">Note</label>
      <textarea
        id="note"
        ref={field}
        rows={1}
        maxLength={4096}
        placeholder={`for the timeline; ${hasKeys ? "Ctrl+Enter saves it, " : ""}Acknowledge takes it along`}
        value={text}
        onInput={(event) => (text.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && text.value.trim() !== "")
            void save()
        }}
      />
      <button
        type="button"
        class="quiet"
        disabled={text.value.trim() === ""}
        aria-busy={isBusy.value}
        title={hasKeys ? "Ctrl+Enter" : undefined}
        onClick={() => void save()}
      >
        Add note
      </button>
    </div>
  )
}

/** Times that an acknowledgement may last instead of the service's own. */
const SPANS = ["30m", "1h", "2h", "4h", "8h", "1d", "3d", "7d"]

const spansOf = (usual = ""): Options => [
  ["", usual],
  ...SPANS.filter((span) => span !== usual).map((span) => [span] as const),
]

interface IncidentActionsProps {
  readonly detail: IncidentDetail
  readonly note: Signal<string>
  readonly span: Signal<string>
  readonly acknowledges: Act
}

export const IncidentActions = ({ detail, note, span, acknowledges }: IncidentActionsProps) => {
  const { incident, acknowledgement } = detail
  if (!mayRespond.value) return null
  const isOpen = incident.state === "open"
  return (
    <>
      <div class="actions">
        {isOpen && (
          <>
            <ActionButton kind={acknowledgement === null ? "main" : "quiet"} does={acknowledges}>
              Acknowledge
            </ActionButton>
            <Field label="for " options={spansOf(me.value?.acknowledges_for)} {...bound(span)} />
            <QuietButton does={() => go(linkTo("silences", [], { incidents: incident.id }))}>
              Silence
            </QuietButton>
          </>
        )}
        {acknowledgement !== null && (
          <ActionButton does={() => withdraw(incident.id)}>Remove acknowledgement</ActionButton>
        )}
      </div>
      <NoteForm id={incident.id} text={note} />
      <StillHere form="" discards={() => (note.value = span.value = "")} />
    </>
  )
}
