import type { Signal } from "@preact/signals"
import type { IncidentDetail } from "@tocsin/client"
import { useEffect, useRef } from "preact/hooks"
import { addNote, withdraw } from "../state/incidentActions.ts"
import { go, route, setParameters } from "../state/location.ts"
import { linkTo } from "../state/Route.ts"
import { mayRespond } from "../state/session.ts"
import type { Message } from "../state/useAction.ts"
import { ActionButton } from "../view/buttons.tsx"

const NoteForm = ({ id, text }: { readonly id: string; readonly text: Signal<string> }) => {
  const field = useRef<HTMLTextAreaElement>(null)
  const isWanted = route.value.parameters["focus"] === "note"
  useEffect(() => {
    if (!isWanted) return
    field.current?.focus()
    // So that the same key leads here again.
    setParameters({ focus: "" })
  }, [isWanted])
  return (
    <div class="note-form">
      <label for="note">Note</label>
      <textarea
        id="note"
        ref={field}
        rows={1}
        maxLength={4096}
        placeholder="for the timeline, by itself or with Acknowledge"
        value={text}
        onInput={(event) => (text.value = event.currentTarget.value)}
      />
      <ActionButton
        isDisabled={text.value.trim() === ""}
        does={async () => {
          const done = await addNote(id, text.value)
          text.value = ""
          return done
        }}
      >
        Add note
      </ActionButton>
    </div>
  )
}

/** Times that an acknowledgement lasts; without one, the service's own. */
const SPANS = ["30m", "1h", "2h", "4h", "1d", "3d", "7d"]

interface IncidentActionsProps {
  readonly detail: IncidentDetail
  readonly note: Signal<string>
  readonly span: Signal<string>
  readonly acknowledges: () => Promise<Message | undefined>
}

/** The actions on an incident, and the note that goes with them. */
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
            <label>
              for{" "}
              <select value={span} onChange={(event) => (span.value = event.currentTarget.value)}>
                <option value="">8h, unless set otherwise</option>
                {SPANS.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            </label>
          </>
        )}
        {isOpen && (
          <button
            type="button"
            class="quiet"
            onClick={() => go(linkTo("silences", [], { incidents: incident.id }))}
          >
            Silence
          </button>
        )}
        {acknowledgement !== null && <ActionButton does={() => withdraw(incident.id)}>Withdraw</ActionButton>}
      </div>
      <NoteForm id={incident.id} text={note} />
    </>
  )
}
