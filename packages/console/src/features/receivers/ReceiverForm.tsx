import { type Signal, useSignal } from "@preact/signals"
import type { PolicyInForce } from "@tocsin/client"
import { useEffect, useMemo, useRef } from "preact/hooks"
import { flowText } from "../../state/policyText.ts"
import { entriesOf, saveReceiver, testText, tryReceiver } from "./receiverActions.ts"
import {
  entryOf,
  fieldsOf,
  FIRST_TYPE,
  FORM_TYPES,
  nameFor,
  placesOf,
  propertiesOf,
  typeNameOf,
  valuesOf,
} from "./receiverForms.ts"
import { call } from "../../state/session.ts"
import type { Texts } from "../../view/FormField.ts"
import { CopyText, Field, Form, type FormAct, bound, QuietButton, refusal } from "../../view/forms.tsx"
import { ReadingNote, type Secret, ShownOnce } from "../../view/states.tsx"
import { useResource } from "../../view/usePages.ts"

const randomSecret = (): string =>
  `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`

/** The schema of policies, which stays the same while a server runs. */
let schema: Promise<unknown> | undefined
const readSchema = (): Promise<unknown> => {
  schema ??= call("GET", "ops/v1/policy/schema.json")
  return schema.catch((error: unknown) => {
    schema = undefined
    throw error
  })
}

interface ReceiverFormsProps {
  readonly policy: PolicyInForce
  /** The name of the one that the form changes; without one, it adds one. */
  readonly changed: Signal<string | undefined>
}

interface FormProps extends ReceiverFormsProps {
  readonly type: string
  readonly schema: unknown
  readonly shown: Signal<Secret | undefined>
}

const useForm = ({ changed, policy, schema: read, shown, type }: FormProps) => {
  const entries = entriesOf(policy)
  const former = entries[changed.value ?? ""]
  const form = FORM_TYPES[type] ?? { kind: "debug", needs: [], takes: [] }
  const [tested, lines] = [useSignal(""), useSignal("")]
  const made = useMemo(randomSecret, [])
  const parts = {
    form,
    former,
    isFixed: policy.fixed !== undefined,
    properties: propertiesOf(read, form.kind),
  }
  const { secret, ...others } = fieldsOf(parts)
  const fields = {
    ...(former === undefined && {
      name: { label: "Name", initial: nameFor(form, entries), isNeeded: () => true },
    }),
    ...others,
    ...(secret && { secret: former === undefined ? { ...secret, initial: made } : secret }),
  }
  const given = ({ name: written = "", ...texts }: Texts) => {
    const name = changed.value ?? written
    if (former === undefined && Object.hasOwn(entries, name))
      throw refusal(`There is a receiver ${name} already: edit that one, or choose another name.`)
    const values = valuesOf(form, texts)
    const hasValues = Object.keys(values).length > 0
    return {
      name,
      body: { receiver: entryOf({ ...parts, hasValues }, texts), ...(hasValues && { values }) },
    }
  }
  const test = async (texts: Texts) => {
    tested.value = ""
    const result = await tryReceiver(given(texts))
    if (result.outcome !== "delivered") throw refusal(testText(result))
    tested.value = testText(result)
    return undefined
  }
  const save = async (texts: Texts) => {
    const written = given(texts)
    const saved = await saveReceiver(policy, written)
    if (saved === undefined) return undefined
    if (written.body.values?.["secret"] === made)
      shown.value = { title: `The secret with which ${written.name} verifies messages`, texts: [made] }
    tested.value = ""
    changed.value = undefined
    return saved
  }
  const write = async (texts: Texts) => {
    const { body, name } = given(texts)
    lines.value = `receivers:\n  ${name}: ${flowText({ ...body.receiver, ...placesOf(form, name) })}`
    return undefined
  }
  const acts: ReadonlyArray<FormAct> = parts.isFixed
    ? [["Write its lines", write, "main"]]
    : [
        ["Send a test", test],
        ["Save", save, "main"],
      ]
  return { acts, fields, former, lines, tested }
}

const ReceiverForm = (props: FormProps) => {
  const { changed } = props
  const { acts, fields, former, lines, tested } = useForm(props)
  return (
    <>
      <Form hasColumns fields={fields} acts={acts}>
        {former !== undefined && <QuietButton does={() => (changed.value = undefined)}>Cancel</QuietButton>}
      </Form>
      {tested.value !== "" && <p role="status">{tested}</p>}
      {former !== undefined && (
        <p class="lead">Secrets are never shown. Write all of them again, or none to keep them.</p>
      )}
      {lines.value !== "" && <CopyText text={lines.value} />}
    </>
  )
}

/** Chooses a type, and asks for what it needs. */
export const ReceiverForms = (props: ReceiverFormsProps) => {
  const { changed, policy } = props
  const chosen = useSignal(FIRST_TYPE)
  const shown = useSignal<Secret | undefined>(undefined)
  const section = useRef<HTMLElement>(null)
  const reading = useResource("schema of policies", [], readSchema, true)
  const entries = entriesOf(policy)
  const former = entries[changed.value ?? ""]
  const type = former === undefined ? chosen.value : typeNameOf(former)
  const title = former === undefined ? "Add a receiver" : `Edit ${changed.value}`
  useEffect(() => {
    if (former !== undefined) section.current?.querySelector("input")?.focus()
  }, [changed.value])
  return (
    <section ref={section} class="receiver-form" aria-label={title}>
      <h2>{title}</h2>
      {policy.fixed !== undefined && <p class="lead">Receivers are not changed here: {policy.fixed}.</p>}
      {former === undefined && (
        <div class="form-row">
          <Field label="Type" options={Object.keys(FORM_TYPES).map((name) => [name])} {...bound(chosen)} />
        </div>
      )}
      <ReadingNote reading={reading} />
      {reading.value !== undefined && (
        <ReceiverForm
          key={[changed.value, type, ...Object.keys(entries)].join(" ")}
          {...props}
          type={type}
          schema={reading.value}
          shown={shown}
        />
      )}
      <ShownOnce of={shown} />
    </section>
  )
}
