import { type Signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { segment } from "../api/request.ts"
import { useEffect, useRef } from "preact/hooks"
import { inNames } from "../state/inNames.ts"
import { type List, listOf, MOST } from "../state/lists.ts"
import { route } from "../state/location.ts"
import { rowCount } from "../state/Pages.ts"
import { call, carryOut, mayAdminister } from "../state/session.ts"
import type { FormField, Texts } from "./FormField.ts"
import { ActionButton, Form, type FormAct, QuietButton } from "./forms.tsx"
import { column, type Columns, Listing, mainLink } from "./Listing.tsx"
import { FilterField } from "./navigation.tsx"
import { Empty, type Secret, ShownOnce, TimeAfter } from "./states.tsx"
import { usePages } from "./usePages.ts"

interface Named {
  readonly name: string
}

/** Things that administrators create by their names, and change or remove by them. */
export interface Kind<Item extends Named, Made extends Named = Item> {
  readonly noun: string
  readonly title: string
  readonly path: string
  readonly list?: () => List<Item>
  /** The size of its rows, which the style sheet knows too. */
  readonly size?: "watch"
  readonly empty: readonly [title: string, text: string]
  readonly subjectOf: (item: Item) => ComponentChildren
  /** The page of an item that has one. */
  readonly linkOf?: (item: Item) => string
  /** The heads of two columns, and what an item has there. */
  readonly label: readonly [head: string, cell: (item: Item) => ComponentChildren]
  readonly when: readonly [head: string, cell: (item: Item) => ComponentChildren]
  readonly noteOf?: (item: Item) => ComponentChildren
  /** Its last 24 hours. */
  readonly stripOf?: (item: Item) => ComponentChildren
  /** Actions that others than administrators have too. */
  readonly actionsOf?: (item: Item) => ComponentChildren
  readonly creates: string
  readonly fieldsOf: (former: Item | undefined) => Readonly<Record<string, FormField>>
  /** The body besides the name; with a name, where none is given. */
  readonly bodyOf: (texts: Texts, former: Item | undefined) => object
  /** Whether another than the administrators defines it, such as the policy. */
  readonly isFixed?: (item: Item) => boolean
  /** The consequence of a removal: `Their tokens end immediately.` */
  readonly warning: string
  /** The label of the button that replaces the secret, and what it did: `Rotated the token`. */
  readonly replaces?: readonly [label: string, done: string]
  /** The secret of a new one, or of one whose secret was replaced. */
  readonly secretOf?: (made: Made) => Secret
}

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
  readonly acts?: ReadonlyArray<FormAct> | undefined
  /** Called once the form has created or changed one. */
  readonly onSave?: (() => void) | undefined
  /** Beside the form, such as what came of a trial of it. */
  readonly children?: ComponentChildren
}

interface DialogProps {
  readonly name: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/** A form over the page, so that it opens where it was asked for, however long the list is. */
const Dialog = ({ name, onClose, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="ask" aria-label={name} onClose={onClose}>
      {children}
    </dialog>
  )
}

export const NamedForm = <Item extends Named, Made extends Named>(props: TableProps<Item, Made>) => {
  const { of: kind, changed, acts = [], children, onSave, shown } = props
  const former = changed.value
  const fields = kind.fieldsOf(former)
  if (former === undefined) {
    const create: FormAct[1] = async ({ name = "", ...texts }) => {
      const body = { ...kind.bodyOf(texts, undefined), ...(name !== "" && { name }) }
      const done = await createNamed(kind, body, shown)
      onSave?.()
      return done
    }
    const named = "name" in fields ? fields : { name: { label: "Name" }, ...fields }
    return (
      <>
        <Form key="" fields={named} acts={[...acts, [kind.creates, create, "main"]]} />
        {children}
      </>
    )
  }
  const change: FormAct[1] = async (texts) => {
    await call("PATCH", `${kind.path}/${segment(former.name)}`, { body: kind.bodyOf(texts, former) })
    changed.value = undefined
    onSave?.()
    return { text: `Changed ${former.name}` }
  }
  const close = () => (changed.value = undefined)
  return (
    <Dialog name={`Change ${former.name}`} onClose={close}>
      <Form key={former.name} title={former.name} fields={fields} acts={[...acts, ["Save", change, "main"]]}>
        <QuietButton does={close}>Cancel</QuietButton>
      </Form>
      {children}
    </Dialog>
  )
}

type ActionsProps<Item extends Named, Made extends Named> = TableProps<Item, Made> & { readonly item: Item }

const NamedActions = <Item extends Named, Made extends Named>(props: ActionsProps<Item, Made>) => {
  const { item, changed, shown } = props
  const { noun, path, replaces, secretOf, warning } = props.of
  const { name } = item
  return (
    <>
      <QuietButton describes={`Change ${name}`} does={() => (changed.value = item)}>
        Change
      </QuietButton>
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
        confirms={[`Remove ${name}? ${warning}`, `Remove the ${noun}`]}
        does={() => carryOut(`Removed ${name}`, "DELETE", `${path}/${segment(name)}`)}
      >
        Remove
      </ActionButton>
    </>
  )
}

interface ListProps<Item extends Named, Made extends Named> {
  readonly of: Kind<Item, Made>
  readonly actionsOf?: (item: Item) => ComponentChildren
}

const columnsOf = <Item extends Named, Made extends Named>(
  kind: Kind<Item, Made>,
  administer: ((item: Item) => ComponentChildren) | undefined,
): Columns<Item> => [
  column("Name", 2, (item) => {
    const link = kind.linkOf?.(item)
    return (
      <>
        {link === undefined ? <b>{item.name}</b> : mainLink(link, item.name)}
        <span class="subject">{kind.subjectOf(item)}</span>
      </>
    )
  }),
  column(kind.label[0], "minmax(8rem, 1fr)", (item) => {
    const note = kind.noteOf?.(item)
    return (
      <span class="notes">
        {kind.label[1](item)}
        {Boolean(note) && <em>{note}</em>}
      </span>
    )
  }),
  column(kind.when[0], "12.5rem", (item) => <span class="when">{kind.when[1](item)}</span>),
  column("", "16.5rem", (item) => (
    <>
      <span class="actions">
        {kind.actionsOf?.(item)}
        {administer?.(item)}
      </span>
      {kind.stripOf?.(item)}
    </>
  )),
]

/** So many are seen at once. */
const FEW = 8

export const NamedList = <Item extends Named, Made extends Named>(props: ListProps<Item, Made>) => {
  const { empty, title, list = () => listOf<Item>(path, {}, MOST), path, size = "named" } = props.of
  const { filter = "" } = route.value.parameters
  const listed = usePages(inNames(list(), filter))
  return (
    <>
      {(filter !== "" || rowCount(listed.pages) > FEW) && (
        <div class="filters">
          <FilterField what="name or address" />
        </div>
      )}
      <Listing
        label={title}
        kind={`named ${size}`}
        columns={columnsOf(props.of, props.actionsOf)}
        listed={listed}
        keyOf={({ name }) => name}
        size={size}
        empty={filter === "" ? <Empty title={empty[0]}>{empty[1]}</Empty> : <Empty title="Nothing matches" />}
      />
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
  if (!mayAdminister.value) return <NamedList of={kind} />
  const parts = { of: kind, shown, changed, acts, onSave }
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
