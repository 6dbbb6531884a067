import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { type Act, confirmed, useAction } from "../state/useAction.ts"

interface ActionButtonProps {
  readonly children: ComponentChildren
  readonly does: Act
  /** Asks before it acts: the question, and what its button is called. */
  readonly confirms?: readonly [text: string, goAhead: string] | undefined
  readonly kind?: "main" | "danger" | "quiet" | undefined
  readonly isDisabled?: boolean
  /** The subject of its action, for screen readers and on hover. */
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
  const click = async (): Promise<void> => {
    if (confirms === undefined || (await confirmed(...confirms, kind === "danger"))) await run(does)
  }
  return (
    <button
      type="button"
      class={kind}
      disabled={isDisabled}
      aria-busy={isBusy.value}
      title={describes}
      onClick={() => void click()}
    >
      {children}
    </button>
  )
}

interface QuietButtonProps {
  readonly children: ComponentChildren
  readonly does: () => unknown
  readonly describes?: string
}

/** A button that changes only the page. */
export const QuietButton = ({ children, does, describes }: QuietButtonProps) => (
  <button type="button" class="quiet" title={describes} onClick={() => void does()}>
    {children}
  </button>
)

/**
 * Copies the text of the element before it. Browsers let only secure pages write to the clipboard:
 * elsewhere it selects the text for the reader to copy.
 */
export const CopyButton = ({ text }: { readonly text: string }) => {
  const note = useSignal("")
  const copy = async (button: HTMLButtonElement): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      note.value = "Copied"
    } catch {
      const { previousElementSibling } = button
      if (previousElementSibling !== null) getSelection()?.selectAllChildren(previousElementSibling)
      note.value = "Selected: press Ctrl+C"
    }
  }
  return (
    <button type="button" class="quiet" onClick={({ currentTarget }) => void copy(currentTarget)}>
      {note.value === "" ? "Copy" : note.value}
    </button>
  )
}

/** A text to copy: a command, or a secret. */
export const CopyText = ({ text }: { readonly text: string }) => (
  <div class="command">
    {text.includes("\n") ? <pre tabIndex={0}>{text}</pre> : <code>{text}</code>} <CopyButton text={text} />
  </div>
)
