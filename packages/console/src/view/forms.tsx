import { type Signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useEffect, useId, useMemo, useRef } from "preact/hooks"
import { forgetDrafts } from "../state/drafts.ts"
import { type Act, confirmed, type Message, useAction } from "../state/useAction.ts"
import { Boxes } from "./boxes.tsx"
import { Fields } from "./Fields.tsx"
import type { FieldProps, FormField, Texts } from "./FormField.ts"
import { faultOf, type FormFault, missingIn, NO_FAULT } from "./formFault.ts"
import { StillHere } from "./StillHere.tsx"
import { useFormTexts } from "./useFormTexts.ts"

interface ActionButtonProps {
  readonly children: ComponentChildren
  readonly does: Act
  /** Asks before it acts: the question, and what its button is called. */
  readonly confirms?: readonly [text: string, goAhead: string] | undefined
  readonly kind?: "main" | "danger" | "quiet" | undefined
  readonly isDisabled?: boolean
  readonly describes?: string
}

/** A button that acts: busy until the server has answered. */
export const ActionButton = ({
  children,
  does,
  confirms,
  kind = "quiet",
  isDisabled = false,
  describes,
}: ActionButtonProps) => {
  const { isBusy, run } = useAction()
  const click = async ({ detail }: MouseEvent): Promise<void> => {
    // Of a double click, the first one may have put this button below the pointer.
    if (confirms !== undefined && detail > 1) return
    if (confirms === undefined || (await confirmed(...confirms, kind === "danger"))) await run(does)
  }
  return (
    <button
      type={kind === "main" ? "submit" : "button"}
      class={kind}
      disabled={isDisabled}
      aria-busy={isBusy.value}
      title={describes}
      onClick={(event) => void click(event)}
    >
      {children}
    </button>
  )
}

type QuietButtonProps = Omit<ActionButtonProps, "confirms" | "does" | "kind"> & {
  readonly does: () => unknown
}

export const QuietButton = ({ children, does, describes, isDisabled = false }: QuietButtonProps) => (
  <button type="button" class="quiet" title={describes} disabled={isDisabled} onClick={() => void does()}>
    {children}
  </button>
)

/** The text of a field, as a signal keeps it. */
export const bound = (text: Signal<string>): Pick<FieldProps, "onText" | "value"> => ({
  value: text.value,
  onText: (next) => (text.value = next),
})

/** A form's field: a line of text, a time, a number, or a choice. */
export const Field = (props: FieldProps) => {
  const { label, value, onText, isWide = false, isRefused = false, hasLines, hint, options, ...input } = props
  const id = useId()
  const place = useRef<HTMLLabelElement>(null)
  useEffect(() => {
    if (!isRefused) return
    place.current?.closest("details")?.setAttribute("open", "")
    place.current?.control?.focus()
  }, [isRefused])
  const described = {
    ...(hint !== undefined && { "aria-describedby": id }),
    ...(isRefused && { "aria-invalid": true }),
  }
  const field = (
    <label ref={place} class={isWide ? "wide" : undefined}>
      {label}
      {hasLines === true ? (
        <textarea
          {...described}
          rows={2}
          value={value}
          placeholder={input.placeholder}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      ) : options === undefined ? (
        <input
          {...input}
          {...described}
          value={value}
          autoComplete={input.type === "password" ? "new-password" : "off"}
          onInput={(event) => onText(event.currentTarget.value)}
        />
      ) : (
        <select {...described} value={value} onChange={(event) => onText(event.currentTarget.value)}>
          {options.map(([each, title = each]) => (
            <option key={each} value={each}>
              {title}
            </option>
          ))}
        </select>
      )}
    </label>
  )
  return hint === undefined ? (
    field
  ) : (
    <div class={isWide ? "field wide" : "field"}>
      {field}
      <small id={id}>{hint}</small>
    </div>
  )
}

const AnyField = (props: FieldProps) =>
  props.boxes === undefined ? <Field {...props} /> : <Boxes {...props} />

/** An act on the texts of a form. The form is emptied once it has a message. */
export type FormAct = readonly [
  label: string,
  does: (texts: Texts) => Promise<Message | undefined>,
  kind?: "main" | "danger",
]

interface FormProps {
  readonly title?: string | undefined
  readonly fields: Readonly<Record<string, FormField>>
  readonly hasColumns?: boolean
  readonly acts: ReadonlyArray<FormAct>
  /** The name by which its texts wait; without one, its title or its fields are that. */
  readonly keptAs?: string
  /** Gives it up, with what was typed. */
  readonly cancels?: () => unknown
  /** Whether it changes something that is there, as those do that can be given up. */
  readonly changes?: boolean
  /** Below the fields, and follows their texts. */
  readonly preview?: (texts: Texts) => ComponentChildren
}

export const Fault = ({ text }: { readonly text: string }) =>
  text === "" ? null : (
    <p class="failure" role="alert">
      {text}
    </p>
  )

interface FormFieldsProps {
  readonly fields: FormProps["fields"]
  readonly isRare: boolean
  readonly texts: Signal<Texts>
  readonly fault: Signal<FormFault>
}

/** The fields of a form that are rare, or those that are not. An edit clears its fault. */
const FormFields = ({ fields, isRare: isDrawn, texts, fault }: FormFieldsProps) =>
  Object.entries(fields).map(
    ([
      name,
      {
        initial: _,
        isNeeded: __,
        refusedAs: ___,
        usual: ____,
        example,
        hint,
        isAsked,
        isRare = false,
        ...field
      },
    ]) =>
      isRare === isDrawn &&
      isAsked?.(texts.value) !== false && (
        <AnyField
          key={name}
          {...field}
          hint={typeof hint === "function" ? hint(texts.value) : hint}
          placeholder={typeof example === "function" ? example(texts.value) : example}
          value={texts.value[name] ?? ""}
          isRefused={fault.value.name === name}
          onText={(text) => {
            texts.value = { ...texts.value, [name]: text }
            fault.value = NO_FAULT
          }}
        />
      ),
  )

/** The texts as a form sends them. */
const trimmed = (texts: Texts): Texts =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.trim()]))

interface GivesUpProps {
  readonly form: string
  readonly does: () => unknown
}

/** Gives a form up, with what was typed. */
export const GivesUp = ({ does, form }: GivesUpProps) => (
  <QuietButton
    does={() => {
      forgetDrafts(form)
      does()
    }}
  >
    Cancel
  </QuietButton>
)

/** Whether something among the rare fields is set, so that nobody overlooks it. */
const hasRare = (fields: FormProps["fields"], texts: Texts): boolean =>
  Object.entries(fields).some(
    ([name, { isRare, options, usual }]) =>
      isRare === true && !["", options?.[0]?.[0], usual].includes(texts[name] ?? ""),
  )

/** A form of one line. A refused input is its fault, and stays. */
export const Form = ({
  title,
  fields,
  hasColumns = false,
  acts,
  cancels,
  changes = cancels !== undefined,
  keptAs,
  preview,
}: FormProps) => {
  const name = keptAs ?? title ?? Object.keys(fields).join()
  const { changed, empty, texts } = useFormTexts(name, fields)
  const isRareSet = useMemo(() => hasRare(fields, texts.peek()), [])
  const fault = useSignal(NO_FAULT)
  const carryOut = async (does: FormAct[1]): Promise<Message | undefined> => {
    const given = trimmed(texts.value)
    const missing = missingIn(fields, given)
    fault.value = missing ?? NO_FAULT
    if (missing !== undefined) return undefined
    try {
      const done = await does(given)
      if (done !== undefined) empty()
      return done
    } catch (error) {
      fault.value = faultOf(fields, error)
      return undefined
    }
  }
  const draw = (isRare: boolean) => <FormFields {...{ fields, isRare, texts, fault }} />
  const row = hasColumns ? "form-row columns" : "form-row"
  const buttons = (
    <>
      {acts.map(([label, does, kind]) => (
        <ActionButton key={label} kind={kind} does={() => carryOut(does)}>
          {label}
        </ActionButton>
      ))}
      {cancels && <GivesUp form={name} does={cancels} />}
    </>
  )
  return (
    <Fields>
      {title !== undefined && <h2>{title}</h2>}
      <div class={row}>
        {draw(false)}
        {!hasColumns && buttons}
      </div>
      {Object.values(fields).some(({ isRare }) => isRare) && (
        <details open={isRareSet}>
          <summary>More</summary>
          <div class="form-row columns">{draw(true)}</div>
        </details>
      )}
      <StillHere form={name} discards={cancels ? undefined : empty} changed={changes ? changed : ""} />
      {preview?.(trimmed(texts.value))}
      {hasColumns && <div class="form-row">{buttons}</div>}
      <Fault text={fault.value.text} />
    </Fields>
  )
}
