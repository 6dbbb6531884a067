import type { PolicyInForce, RotaPlan } from "@tocsin/client"
import { momentText } from "../../format/times.ts"
import { now } from "../../state/clock.ts"
import { setParameters } from "../../state/location.ts"
import { forgetDrafts, useDraft } from "../../state/drafts.ts"
import { previewOf, rotaPath, takeOver, type Turn, turnsOf } from "./rotaActions.ts"
import { noEnd, readEnd } from "../silences/silenceActions.ts"
import { Fields } from "../../view/Fields.tsx"
import { Choices } from "../../view/boxes.tsx"
import { ActionButton, bound, Fault, Field, QuietButton } from "../../view/forms.tsx"
import { ReadingNote } from "../../view/states.tsx"
import { useRead } from "../../view/usePages.ts"
import { Turns } from "./Turns.tsx"

const DAY = 86_400_000

type Taking = Pick<Turn, "receivers" | "to"> & { readonly rota: string }

/** The consequences of an override before it is made: who leaves, who comes and who follows. */
const Preview = ({ rota, ...taking }: Taking) => {
  // Of whole days, so that the same answer serves while the operator types and the clock moves.
  const to = new Date((Math.floor(taking.to / DAY) + 2) * DAY).toISOString()
  const reading = useRead<RotaPlan>(rotaPath(rota), { to })
  const preview = reading.value && previewOf(turnsOf(reading.value), taking, now.value)
  return (
    <>
      <p role="status" class="preview">
        {preview?.text}
      </p>
      <ReadingNote reading={reading} />
      {preview !== undefined && <Turns label="The turns as they would be" turns={preview.turns} />}
    </>
  )
}

/** Puts receivers on call for a while instead of the turn of a rota. */
export const TakeOver = ({ rota }: { readonly rota: string }) => {
  const receivers = useDraft<ReadonlyArray<string>>(rota, "receivers", [])
  const [until, note] = [useDraft(rota, "until", "12h"), useDraft(rota, "note", "")]
  const end = readEnd(until.value.trim(), now.value)
  const [first, ...others] = receivers.value
  const { receivers: all = [] } = useRead<PolicyInForce>("ops/v1/policy").value ?? {}
  const close = () => {
    forgetDrafts(rota)
    setParameters({ new: "" })
  }
  const submit = async () => {
    if (end === undefined || first === undefined) return undefined
    const text = note.value.trim()
    const body = { to: new Date(end.at).toISOString(), ...(text !== "" && { note: text }) }
    const done = await takeOver(rota, { ...body, receivers: [first, ...others] })
    close()
    return done
  }
  return (
    <Fields class="act-form after" aria-label={`Take over ${rota}`}>
      <div class="filters" role="group" aria-label="On call instead">
        On call instead:
        <Choices
          names={all.map(({ name }) => name)}
          chosen={receivers.value}
          onChange={(chosen) => (receivers.value = chosen)}
        />
      </div>
      <div class="form-row">
        <Field label="Until, or for" {...bound(until)} />
        <Field label="Note" isWide {...bound(note)} />
        <ActionButton kind="main" isDisabled={end === undefined || first === undefined} does={submit}>
          Take over
        </ActionButton>
        <QuietButton does={close}>Cancel</QuietButton>
      </div>
      {end === undefined ? (
        <Fault text={noEnd(until.value)} />
      ) : (
        <p class="lead">
          Ends {momentText(end.at, now.value)}.{first === undefined && " Still missing: a receiver."}
        </p>
      )}
      {end !== undefined && first !== undefined && (
        <Preview rota={rota} to={end.at} receivers={receivers.value} />
      )}
    </Fields>
  )
}
