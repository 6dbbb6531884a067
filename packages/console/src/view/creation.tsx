import type { Signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { ApiFailure } from "../api/ApiFailure.ts"
import { segment } from "../api/request.ts"
import { call } from "../state/session.ts"
import { ActionButton, CopyButton } from "./buttons.tsx"

/** Of an input that is malformed, and of a name that is taken. */
const REFUSED = [400, 409]

/** Sends what a form says. A refused input becomes the form's fault, and nothing is returned. */
export const sent = async <Made,>(
  method: "POST" | "PATCH",
  path: string,
  body: object,
  fault: Signal<string>,
): Promise<Made | undefined> => {
  fault.value = ""
  return call<Made>(method, path, { body }).catch((error: unknown) => {
    if (!(error instanceof ApiFailure) || !REFUSED.includes(error.status ?? 0)) throw error
    fault.value = error.message
    return undefined
  })
}

/** The fault of a form, if there is one. */
export const Fault = ({ of }: { readonly of: Signal<string> }) =>
  of.value === "" ? null : (
    <p class="failure" role="alert">
      {of.value}
    </p>
  )

interface FieldProps {
  readonly label: string
  readonly value: Signal<string>
  readonly placeholder?: string | undefined
}

/** A form's field for one line of text. */
export const TextField = ({ label, value, placeholder }: FieldProps) => (
  <label>
    {label}
    <input
      value={value}
      placeholder={placeholder}
      onInput={(event) => (value.value = event.currentTarget.value)}
      autoComplete="off"
    />
  </label>
)

/** A form's field for a time in the zone of the computer, to the minute. */
export const TimeField = ({ label, value }: Pick<FieldProps, "label" | "value">) => (
  <label>
    {label}
    <input
      type="datetime-local"
      value={value}
      onInput={(event) => (value.value = event.currentTarget.value)}
    />
  </label>
)

/** A form's choice of one of several values; a title of its own makes a value easier to read. */
export const ChoiceField = ({
  label,
  value,
  options,
}: FieldProps & { readonly options: ReadonlyArray<readonly [value: string, title?: string]> }) => (
  <label>
    {label}
    <select value={value} onChange={(event) => (value.value = event.currentTarget.value)}>
      {options.map(([each, title = each]) => (
        <option key={each} value={each}>
          {title}
        </option>
      ))}
    </select>
  </label>
)

interface Removable {
  readonly name: string
  readonly noun: string
  readonly path: string
}

/** Removes something, after its question. */
export const RemoveButton = ({ name, noun, path, question }: Removable & { readonly question: string }) => (
  <ActionButton
    kind="danger"
    describes={`Remove ${name}`}
    confirms={[question, `Remove the ${noun}`]}
    does={async () => {
      await call("DELETE", `${path}/${segment(name)}`)
      return { text: `Removed ${name}` }
    }}
  >
    Remove
  </ActionButton>
)

interface SecretActionsProps<Made> extends Removable {
  /** The label of the button that replaces the secret, and what it did: `Rotated the token`. */
  readonly replaces: readonly [label: string, done: string]
  /** The consequence of a removal: `Their tokens end immediately.` */
  readonly warning: string
  readonly shown: Signal<Made | undefined>
  readonly children?: ComponentChildren
}

/** Replaces the secret of something, or removes it; other buttons stand before these. */
export const SecretActions = <Made,>({
  children,
  replaces: [label, done],
  shown,
  warning,
  ...removable
}: SecretActionsProps<Made>) => {
  const { name, path } = removable
  return (
    <span class="actions">
      {children}
      <ActionButton
        describes={`${label}: ${name}`}
        does={async () => {
          shown.value = await call<Made>("POST", `${path}/${segment(name)}/rotate`, { body: {} })
          return { text: `${done} of ${name}; the former one is valid for 24 h` }
        }}
      >
        {label}
      </ActionButton>
      <RemoveButton {...removable} question={`Remove ${name}? ${warning}`} />
    </span>
  )
}

/** Secrets that an answer shows once, to copy. */
export const ShownOnce = <Made,>({
  of: shown,
  textsOf,
  titleOf,
}: {
  readonly of: Signal<Made | undefined>
  readonly titleOf: (made: Made) => string
  readonly textsOf: (made: Made) => ReadonlyArray<string>
}) =>
  shown.value === undefined ? null : (
    <div class="secret" role="status">
      <p>
        <b>{titleOf(shown.value)}</b>. Copy it now: it is not shown again.
      </p>
      {textsOf(shown.value).map((text) => (
        <div key={text}>
          {text.includes("\n") ? <pre>{text}</pre> : <code>{text}</code>} <CopyButton text={text} />
        </div>
      ))}
      <button type="button" class="quiet" onClick={() => (shown.value = undefined)}>
        Done
      </button>
    </div>
  )
