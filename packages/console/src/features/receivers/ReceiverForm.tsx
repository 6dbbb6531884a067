import { type Signal, useSignal } from "@preact/signals"
import type { PolicyInForce } from "@tocsin/client"
import { useMemo, useRef } from "preact/hooks"
import { type Entry as PolicyEntry, entryAt } from "../../state/policyEntries.ts"
import { flowText } from "../../state/policyText.ts"
import { entriesOf, saveReceiver, TESTING, testText, tryReceiver } from "./receiverActions.ts"
import {
  type Entry,
  entryOf,
  fieldsOf,
  FIRST_TYPE,
  FORM_TYPES,
  inWordsOfForm,
  nameFor,
  placesOf,
  propertiesOf,
  typeNameOf,
  valuesOf,
} from "./receiverForms.ts"
import { call } from "../../state/session.ts"
import { asName, nameHint } from "../../state/names.ts"
import type { FormField, Texts } from "../../view/FormField.ts"
import { faultOf, refusal } from "../../view/formFault.ts"
import { CopyText } from "../../view/copies.tsx"
import { Field, Form, type FormAct, bound } from "../../view/forms.tsx"
import { Dialog } from "../../view/Dialog.tsx"
import { Preview, refusalOf, useConflict } from "../../view/PolicyDialog.tsx"
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
  /** The entry that the form changes; removed meanwhile, it is added again. */
  readonly entry: Signal<PolicyEntry<Entry> | undefined>
  /** The entry with which the form opened. */
  readonly opened: Entry | undefined
}

interface ChangedProps extends Pick<FormProps, "policy"> {
  readonly fields: Readonly<Record<string, FormField>>
  readonly present: PolicyEntry
  readonly receiver: Entry
  readonly values?: Texts
}

/** The change of an entry and whom it notifies at once; that of secrets shows in no line. */
const Changed = ({ fields, policy, present, receiver, values }: ChangedProps) => {
  if (values !== undefined) return <p class="lead">It replaces the secrets.</p>
  const wordsOf = (problem: string) => faultOf(fields, refusal(problem)).text
  return <Preview former={present} path={present.path} policy={policy} value={receiver} wordsOf={wordsOf} />
}

/** Says that it is at work, and then what came of it. */
const tryOut = async (written: Parameters<typeof tryReceiver>[0], tested: Signal<string>) => {
  tested.value = TESTING
  const result = await tryReceiver(written).finally(() => (tested.value = ""))
  if (result.outcome !== "delivered") throw refusal(inWordsOfForm(testText(result)))
  return testText(result)
}

const refuse = (error: unknown): never => {
  throw refusal(refusalOf(error))
}

const NAME: FormField = { label: "Name", hint: ({ name = "" }) => nameHint(name, "_"), isNeeded: () => true }

const useForm = ({ changed, entry, opened, policy, schema: read, shown, type }: FormProps) => {
  const entries = entriesOf(policy)
  const former = entry.value?.value ?? opened
  const form = FORM_TYPES[type] ?? { kind: "debug", needs: [], takes: [] }
  const [tested, lines] = [useSignal(""), useSignal("")]
  const made = useMemo(randomSecret, [])
  const { conflict, present } = useConflict(policy, entry)
  const parts = {
    form,
    former,
    isFixed: policy.fixed !== undefined,
    properties: propertiesOf(read, form.kind),
  }
  const { secret, ...others } = fieldsOf(parts)
  const fields = {
    ...(former === undefined && {
      name: { ...NAME, initial: nameFor(form, entries) },
    }),
    ...others,
    ...(secret && { secret: former === undefined ? { ...secret, initial: made } : secret }),
  }
  const given = ({ name: written = "", ...texts }: Texts) => {
    const name = changed.value ?? asName(written, "_")
    if (name === "") throw refusal("name must have a letter from a to z or a digit.")
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
    tested.value = await tryOut(given(texts), tested)
    return undefined
  }
  const save = async (texts: Texts) => {
    entry.value = present
    if (conflict !== "") throw refusal(conflict)
    const written = given(texts)
    const saved = await saveReceiver(policy, written, present).catch(refuse)
    if (saved === undefined) return undefined
    if (written.body.values?.["secret"] === made)
      shown.value = { title: `The secret with which ${written.name} verifies messages`, texts: [made] }
    tested.value = ""
    changed.value = undefined
    return saved
  }
  const write = async (texts: Texts) => {
    const { body, name } = given(texts)
    lines.value = `receivers:\n  ${name}: ${flowText({ ...body.receiver, ...(former === undefined && placesOf(form, name)) })}`
    return undefined
  }
  const acts: ReadonlyArray<FormAct> = parts.isFixed
    ? [["Write its lines", write, "main"]]
    : [
        ["Send a test", test],
        ["Save", save, "main"],
      ]
  const preview = (texts: Texts) => {
    if (parts.isFixed) return null
    if (conflict !== "") return <p role="status">{conflict}</p>
    return present && <Changed {...{ fields, policy, present }} {...given(texts).body} />
  }
  return { acts, fields, former, lines, preview, tested }
}

const ReceiverForm = (props: Omit<FormProps, "entry" | "opened">) => {
  const { changed, policy } = props
  const { value: name } = changed
  const entry = useSignal(name === undefined ? undefined : entryAt<Entry>(policy.policy, ["receivers", name]))
  const { current: opened } = useRef(entry.peek()?.value)
  const { acts, fields, former, lines, preview, tested } = useForm({ ...props, entry, opened })
  return (
    <>
      <Form
        hasColumns
        fields={fields}
        acts={acts}
        preview={preview}
        keptAs={name ?? `new ${props.type}`}
        {...(former !== undefined && { cancels: () => (changed.value = undefined) })}
      />
      {tested.value !== "" && <p role="status">{tested}</p>}
      {former !== undefined && (
        <p class="lead">Secrets are never shown. Write all of them again, or none to keep them.</p>
      )}
      {lines.value !== "" && <CopyText text={lines.value} />}
    </>
  )
}

type EditProps = Omit<FormProps, "entry" | "opened" | "type"> & { readonly name: string }

/** The form of one receiver, over the page. Its type stays what it was when it opened. */
const EditReceiver = ({ name, ...props }: EditProps) => {
  const { changed, policy } = props
  const { current: type } = useRef(typeNameOf(entriesOf(policy)[name] ?? {}))
  return (
    <Dialog name={`Edit ${name}`} onClose={() => (changed.value = undefined)}>
      <h2>Edit {name}</h2>
      <ReceiverForm {...props} type={type} />
    </Dialog>
  )
}

/** Chooses a type, and asks for what it needs. */
export const ReceiverForms = (props: ReceiverFormsProps) => {
  const { changed, policy } = props
  const chosen = useSignal(FIRST_TYPE)
  const shown = useSignal<Secret | undefined>(undefined)
  const reading = useResource("schema of policies", [], readSchema, true)
  const { value: known } = reading
  const { value: name } = changed
  if (name !== undefined && known !== undefined)
    return <EditReceiver key={name} name={name} schema={known} shown={shown} {...props} />
  return (
    <section class="receiver-form" aria-label="Add a receiver">
      <h2>Add a receiver</h2>
      {policy.fixed !== undefined && <p class="lead">Receivers are not changed here: {policy.fixed}.</p>}
      <div class="form-row">
        <Field label="Type" options={Object.keys(FORM_TYPES).map((each) => [each])} {...bound(chosen)} />
      </div>
      <ReadingNote reading={reading} />
      {known !== undefined && (
        <ReceiverForm
          key={[chosen.value, ...Object.keys(entriesOf(policy))].join(" ")}
          {...props}
          type={chosen.value}
          schema={known}
          shown={shown}
        />
      )}
      <ShownOnce of={shown} />
    </section>
  )
}
