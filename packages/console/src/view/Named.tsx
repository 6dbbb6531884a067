import { type Signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useRef } from "preact/hooks"
import { segment } from "../api/request.ts"
import { isSame } from "../state/isSame.ts"
import { mergedChanges } from "../state/mergedChanges.ts"
import { asName, nameHint } from "../state/names.ts"
import { call, carryOut, mayAdminister } from "../state/session.ts"
import { Dialog } from "./Dialog.tsx"
import type { FormField, Texts } from "./FormField.ts"
import { changedText, faultOf, refusal } from "./formFault.ts"
import { ActionButton, Form, type FormAct, QuietButton } from "./forms.tsx"
import type { Kind, Named } from "./NamedKind.ts"
import { NamedList } from "./NamedList.tsx"
import { type Secret, ShownOnce, TimeAfter } from "./states.tsx"
import { LONGEST_TITLE } from "./titles.tsx"

type Shown = Signal<Secret | undefined>

export const createNamed = async <Made extends Named>(
  { path, secretOf }: Pick<Kind<never, Made>, "path" | "secretOf">,
  body: object,
  shown: Shown,
) => {
  const made = await call<Made>("POST", path, { body })
  shown.value = secretOf?.(made)
  return { text: `Created ${made.name}` }
}

interface TableProps<Item extends Named, Made extends Named> {
  readonly of: Kind<Item, Made>
  readonly shown: Shown
  /** The one that the form changes; without one, it creates one. */
  readonly changed: Signal<Item | undefined>
  /** The one as which the form that creates one begins. */
  readonly copied?: Signal<Item | undefined>
  readonly acts?: ReadonlyArray<FormAct> | undefined
  /** Called once the form has created or changed one. */
  readonly onSave?: (() => void) | undefined
  /** Beside the form, such as what came of a trial of it. */
  readonly children?: ComponentChildren
}

const titleField = (initial = ""): FormField => ({ label: "Title", initial, maxLength: LONGEST_TITLE })

/** The fields that name a new one. */
const newFields = (
  { idOf: idIn }: Pick<Kind<never>, "idOf">,
  model: Named | undefined,
): Readonly<Record<string, FormField>> => {
  if (idIn === undefined) return { name: { label: "Name", hint: ({ name = "" }) => nameHint(name, "._-") } }
  const hint = (texts: Texts) => {
    const id = texts["name"] || idIn(texts)
    return id === undefined ? "" : `ID: ${id}`
  }
  const title = model && `Copy of ${model.title ?? model.name}`.slice(0, LONGEST_TITLE)
  return { title: { ...titleField(title), hint }, name: { label: "ID", isRare: true, example: idIn } }
}

export const NamedForm = <Item extends Named, Made extends Named>(props: TableProps<Item, Made>) => {
  const { of: kind, changed, copied, acts = [], children, onSave, shown } = props
  const former = changed.value
  const model = copied?.value
  const fields = kind.fieldsOf(former ?? model)
  /** Changes by somebody else that the form has named. */
  const said = useRef<unknown>(undefined)
  if (former === undefined) {
    const create: FormAct[1] = async ({ name: written = "", title = "", ...texts }) => {
      const name = kind.idOf === undefined ? asName(written, "._-") : written
      // The service makes an ID of a title.
      const named = name !== "" || title === "" ? { name: name === "" ? kind.idOf?.(texts) : name } : {}
      const body = { ...kind.bodyOf(texts, undefined, model), ...named, ...(title !== "" && { title }) }
      const done = await createNamed(kind, body, shown)
      if (copied !== undefined) copied.value = undefined
      onSave?.()
      return done
    }
    return (
      <>
        <Form
          key={`new ${model?.name ?? ""}`}
          fields={{ ...newFields(kind, model), ...fields }}
          acts={[...acts, [kind.creates, create, "main"]]}
          keptAs={`new ${model?.name ?? ""}`}
        />
        {children}
      </>
    )
  }
  const path = `${kind.path}/${segment(former.name)}`
  const change: FormAct[1] = async ({ title, ...given }) => {
    const stated = {
      ...kind.bodyOf(given, former),
      ...(title !== undefined && { title: title === "" ? null : title }),
    }
    // Other settings stay: another operator may have changed them meanwhile.
    const there = await (kind.read?.(former.name) ?? call<Item>("GET", path))
    const present = there ?? former
    const { changes, conflicts } = mergedChanges(former, stated, present)
    if (conflicts.length > 0 && !isSame(conflicts, said.current)) {
      said.current = conflicts
      const texts = conflicts.map(([place, value]) => `${place} is ${JSON.stringify(value ?? null)}`)
      throw refusal(changedText(texts.map((text) => faultOf(fields, refusal(text)).text).join(", ")))
    }
    const isChanged = Object.keys(changes).length > 0
    if (isChanged) await call("PATCH", path, { body: changes })
    changed.value = undefined
    onSave?.()
    const called = (title ?? former.title) || former.name
    return { text: isChanged ? `Changed ${called}` : `Nothing was changed in ${called}` }
  }
  const close = () => (changed.value = undefined)
  const heading = `Change ${former.title ?? former.name}`
  return (
    <Dialog name={heading} onClose={close}>
      <Form
        key={former.name}
        title={heading}
        fields={kind.idOf === undefined ? fields : { title: titleField(former.title ?? ""), ...fields }}
        acts={[...acts, ["Save", change, "main"]]}
        hasColumns
        keptAs={former.name}
        cancels={close}
      />
      {children}
    </Dialog>
  )
}

type ActionsProps<Item extends Named, Made extends Named> = TableProps<Item, Made> & { readonly item: Item }

const NamedActions = <Item extends Named, Made extends Named>(props: ActionsProps<Item, Made>) => {
  const { item, changed, copied, shown } = props
  const { noun, path, replaces, secretOf, warning } = props.of
  const { name } = item
  const called = item.title ?? name
  return (
    <>
      <QuietButton describes={`Change ${name}`} does={() => (changed.value = item)}>
        Change
      </QuietButton>
      {copied !== undefined && (
        <QuietButton
          describes={`Copy ${name}`}
          does={() => {
            copied.value = props.of.copyOf?.(item)
            window.scrollTo(0, 0)
          }}
        >
          Copy
        </QuietButton>
      )}
      {replaces !== undefined && (
        <ActionButton
          describes={`${replaces[0]}: ${name}`}
          does={async () => {
            const made = await call<Made>("POST", `${path}/${segment(name)}/rotate`, { body: {} })
            shown.value = secretOf?.(made)
            return { text: `${replaces[1]} of ${name}; the former one is valid for 24 h` }
          }}
        >
          {replaces[0]}
        </ActionButton>
      )}
      <ActionButton
        kind="danger"
        describes={`Remove ${name}`}
        confirms={[`Remove ${called}? ${warning}`, `Remove the ${noun}`]}
        does={() => carryOut(`Removed ${called}`, "DELETE", `${path}/${segment(name)}`)}
      >
        Remove
      </ActionButton>
    </>
  )
}

/** A list of things with names, below the form that creates and changes them. */
export const NamedTable = <Item extends Named, Made extends Named>(props: {
  readonly of: Kind<Item, Made>
  readonly acts?: ReadonlyArray<FormAct>
  readonly onSave?: () => void
  readonly children?: ComponentChildren
}) => {
  const { of: kind, acts, children, onSave } = props
  const shown = useSignal<Secret | undefined>(undefined)
  const changed = useSignal<Item | undefined>(undefined)
  const copied = useSignal<Item | undefined>(undefined)
  if (!mayAdminister.value) return <NamedList of={kind} />
  const parts = { of: kind, shown, changed, acts, onSave, ...(kind.copyOf !== undefined && { copied }) }
  return (
    <>
      <NamedForm {...parts}>{children}</NamedForm>
      <ShownOnce of={shown} />
      <NamedList
        of={kind}
        actionsOf={(item) => kind.isFixed?.(item) !== true && <NamedActions {...parts} item={item} />}
      />
    </>
  )
}

/** When something was last done, if ever: `used 5m ago`. */
export const lastText = (did: string, at: string | null, never: string): ComponentChildren =>
  at === null ? never : <TimeAfter text={`${did} `} at={at} />
