import { useSignal } from "@preact/signals"
import { copyText } from "../state/browser.ts"

/** Copies as a reader would: browsers let only secure pages write to the clipboard. */
const copySelected = (text: string): boolean => {
  const field = document.createElement("textarea")
  field.value = text
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand("copy")
  field.remove()
  return isCopied
}

interface CopyButtonProps {
  /** The address of the page, unless given. */
  readonly text?: string
  readonly label?: string
}

export const CopyButton = ({ text, label = "Copy" }: CopyButtonProps) => {
  const note = useSignal(label)
  const copy = async (button: HTMLButtonElement): Promise<void> => {
    const copied = text ?? location.href
    let isCopied = await copyText(copied)
    if (!isCopied) {
      isCopied = copySelected(copied)
      button.focus()
    }
    note.value = isCopied ? "Copied" : "Not copied: select it"
  }
  return (
    <button type="button" class="quiet" onClick={({ currentTarget }) => void copy(currentTarget)}>
      {note}
    </button>
  )
}

export const CopyText = ({ text }: { readonly text: string }) => (
  <div class="command">
    {text.includes("\n") ? <pre tabIndex={0}>{text}</pre> : <code>{text}</code>} <CopyButton text={text} />
  </div>
)
