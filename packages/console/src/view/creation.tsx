import type { Signal } from "@preact/signals"
import { ApiFailure } from "../api/ApiFailure.ts"
import { segment } from "../api/request.ts"
import { call } from "../state/session.ts"
import { ActionButton, CopyButton } from "./buttons.tsx"

const REFUSED_INPUT = 400

/** Creates something by a form. A refused input becomes the form's fault, and nothing is returned. */
export const created = async <Made,>(
  path: string,
  body: object,
  fault: Signal<string>,
): Promise<Made | undefined> => {
  fault.value = ""
  return call<Made>("POST", path, { body }).catch((error: unknown) => {
    if (!(error instanceof ApiFailure) || error.status !== REFUSED_INPUT) throw error
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

interface SecretActionsProps<Made> {
  readonly name: string
  readonly noun: string
  readonly path: string
  /** The label of the button that replaces the secret, and what it did: `Rotated the token`. */
  readonly replaces: readonly [label: string, done: string]
  /** The consequence of a removal: `Their tokens end immediately.` */
  readonly warning: string
  readonly onMade: (made: Made) => void
}

/** Replaces the secret of something, or removes it. */
export const SecretActions = <Made,>({
  name,
  noun,
  onMade,
  path,
  replaces: [label, done],
  warning,
}: SecretActionsProps<Made>) => (
  <span class="actions">
    <ActionButton
      describes={`${label}: ${name}`}
      does={async () => {
        onMade(await call<Made>("POST", `${path}/${segment(name)}/rotate`, { body: {} }))
        return { text: `${done} of ${name}; the former one is valid for 24 h` }
      }}
    >
      {label}
    </ActionButton>
    <ActionButton
      kind="danger"
      describes={`Remove ${name}`}
      confirms={[`Remove ${name}? ${warning}`, `Remove the ${noun}`]}
      does={async () => {
        await call("DELETE", `${path}/${segment(name)}`)
        return { text: `Removed ${name}` }
      }}
    >
      Remove
    </ActionButton>
  </span>
)

/** Secrets that an answer shows once, to copy. */
export const ShownOnce = ({
  onDone,
  texts,
  what,
}: {
  readonly what: string
  readonly texts: ReadonlyArray<string>
  readonly onDone: () => void
}) => (
  <div class="secret" role="status">
    <p>
      <b>{what}</b>. Copy it now: it is not shown again.
    </p>
    {texts.map((text) => (
      <div key={text}>
        {text.includes("\n") ? <pre>{text}</pre> : <code>{text}</code>} <CopyButton text={text} />
      </div>
    ))}
    <button type="button" class="quiet" onClick={onDone}>
      Done
    </button>
  </div>
)
