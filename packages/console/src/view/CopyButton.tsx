import { useSignal } from "@preact/signals"

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
