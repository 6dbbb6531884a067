import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { pageName, type Titled } from "../state/names.ts"
import { call, mayAdminister } from "../state/session.ts"
import { Dialog } from "./Dialog.tsx"
import { Form, type FormAct, QuietButton } from "./forms.tsx"

/** Titles have no more characters. */
export const LONGEST_TITLE = 100

interface NamedHeadProps extends Titled {
  readonly id: string
}

/** The heading of a page about one thing: its title, and its ID below that. */
export const NamedHead = ({ id, title }: NamedHeadProps) => {
  const name = title ?? id
  useEffect(() => {
    pageName.value = name
    return () => (pageName.value = undefined)
  }, [name])
  return (
    <>
      <h1>{name}</h1>
      {name !== id && <p class="lead">{id}</p>}
    </>
  )
}

interface TitleEditorProps extends NamedHeadProps {
  /** Where the title is changed. */
  readonly path: string
}

/** The button by which administrators title a check or an agent. */
export const TitleEditor = ({ id, path, title }: TitleEditorProps) => {
  const isOpen = useSignal(false)
  if (!mayAdminister.value) return null
  const close = () => (isOpen.value = false)
  const save: FormAct[1] = async ({ title: text = "" }) => {
    await call("PATCH", path, { body: { title: text === "" ? null : text } })
    close()
    return { text: text === "" ? `Took the title of ${id} back` : `Titled ${id}` }
  }
  const field = {
    label: "Title",
    initial: title ?? "",
    maxLength: LONGEST_TITLE,
    hint: "Blank takes it back.",
  }
  return (
    <>
      <QuietButton describes={`Edit the title of ${id}`} does={() => (isOpen.value = true)}>
        Edit title
      </QuietButton>
      {isOpen.value && (
        <Dialog name={`Title of ${id}`} onClose={close}>
          <Form title={id} fields={{ title: field }} acts={[["Save", save, "main"]]} cancels={close} />
        </Dialog>
      )}
    </>
  )
}
