import { type Signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { ApiFailure } from "../api/ApiFailure.ts"
import type { Message } from "../state/useAction.ts"
import { ActionButton, CopyText, QuietButton } from "./buttons.tsx"

export type Options = ReadonlyArray<readonly [value: string, title?: string]>

interface FieldProps {
  readonly label: string
  readonly type?: "datetime-local" | "number"
  readonly min?: number
  readonly max?: number
  readonly placeholder?: string | undefined
  readonly value: string
  readonly onText: (text: string) => void
  /** Without these, the field takes any text. */
  readonly options?: Options | undefined
}

/** A form's field: a line of text, a time, a number, or a choice of several values. */
export const Field = ({ label, value, onText, options, ...input }: FieldProps) => (
  <label>
    {label}
    {options === undefined ? (
      <input
        {...input}
        value={value}
        autoComplete="off"
        onInput={(event) => onText(event.currentTarget.value)}
      />
    ) : (
      <select value={value} onChange={(event) => onText(event.currentTarget.value)}>
        {options.map(([each, title = each]) => (
          <option key={each} value={each}>
            {title}
          </option>
        ))}
      </select>
    )}
  </label>
)

/** The texts of a form, by the names of its fields. */
type Texts = Readonly<Record<string, string>>

/** A field of a {@link Form}, with the text that it begins with. */
export type FormField = Omit<FieldProps, "value" | "onText" | "placeholder"> & {
  readonly initial?: string
  /** An example, which may depend on the other fields. */
  readonly example?: string | ((texts: Texts) => string | undefined)
}

/** An act on the texts of a form. The form is emptied once it has a message. */
export type FormAct = readonly [
  label: string,
  does: (texts: Texts) => Promise<Message | undefined>,
  kind?: "main",
]

interface FormProps {
  readonly title?: string | undefined
  readonly fields: Readonly<Record<string, FormField>>
  readonly acts: ReadonlyArray<FormAct>
  readonly children?: ComponentChildren
}

/** Of an input that is malformed, and of a name that is taken. */
const REFUSED = [400, 409]

/** Refuses the texts of a form, as the service does. */
export const refusal = (why: string): ApiFailure => new ApiFailure("validation", why, { status: 400 })

export const Fault = ({ text }: { readonly text: string }) =>
  text === "" ? null : (
    <p class="failure" role="alert">
      {text}
    </p>
  )

/** A form of one line. A refused input is its fault, and stays. */
export const Form = ({ title, fields, acts, children }: FormProps) => {
  const initial = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, field.initial ?? ""]),
  )
  const texts = useSignal<Texts>(initial)
  const fault = useSignal("")
  const carryOut = async (does: FormAct[1]): Promise<Message | undefined> => {
    fault.value = ""
    const given = Object.entries(texts.value).map(([name, text]) => [name, text.trim()])
    try {
      const done = await does(Object.fromEntries(given))
      if (done !== undefined) texts.value = initial
      return done
    } catch (error) {
      if (!(error instanceof ApiFailure) || !REFUSED.includes(error.status ?? 0)) throw error
      fault.value = error.message
      return undefined
    }
  }
  return (
    <>
      <div class="form-row">
        {title !== undefined && <b>{title}</b>}
        {Object.entries(fields).map(([name, { initial: _, example, ...field }]) => (
          <Field
            key={name}
            {...field}
            placeholder={typeof example === "function" ? example(texts.value) : example}
            value={texts.value[name] ?? ""}
            onText={(text) => (texts.value = { ...texts.value, [name]: text })}
          />
        ))}
        {acts.map(([label, does, kind]) => (
          <ActionButton key={label} kind={kind} does={() => carryOut(does)}>
            {label}
          </ActionButton>
        ))}
        {children}
      </div>
      <Fault text={fault.value} />
    </>
  )
}

/** Texts of an answer that nothing shows again. */
export interface Secret {
  readonly title: string
  readonly texts: ReadonlyArray<string>
}

export const ShownOnce = ({ of: shown }: { readonly of: Signal<Secret | undefined> }) =>
  shown.value === undefined ? null : (
    <div class="secret" role="status">
      <p>
        <b>{shown.value.title}</b>. Copy it now: it is not shown again.
      </p>
      {shown.value.texts.map((text) => (
        <CopyText key={text} text={text} />
      ))}
      <QuietButton does={() => (shown.value = undefined)}>Done</QuietButton>
    </div>
  )
