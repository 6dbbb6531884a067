import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { confirmed } from "../state/confirmation.ts"
import { type Message, useAction } from "../state/useAction.ts"

interface ActionButtonProps {
  readonly children: ComponentChildren
  readonly does: () => Promise<Message | undefined>
  /** Asks before it acts: the question, and what its button is called. */
  readonly confirms?: readonly [text: string, goAhead: string] | undefined
  readonly kind?: "main" | "danger" | "quiet"
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
