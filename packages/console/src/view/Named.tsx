import { type Signal, useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useMemo, useRef } from "preact/hooks"
import { segment } from "../api/request.ts"
import { nameAmong, sharedTitles, type Titled } from "../state/names.ts"
import { arranged, type Sorts } from "../state/arranged.ts"
import { type List, listOf } from "../state/lists.ts"
import { route } from "../state/location.ts"
import { itemsOf, rowCount } from "../state/Pages.ts"
import { call, carryOut, mayAdminister, mayRespond } from "../state/session.ts"
import { Dialog } from "./Dialog.tsx"
import type { FormField, Texts } from "./FormField.ts"
import { ActionButton, Form, type FormAct, QuietButton } from "./forms.tsx"
import { column, type Columns, Listing, mainLink } from "./Listing.tsx"
import { type ManyAct, useMany } from "./manyActs.tsx"
import { FilterField } from "./navigation.tsx"
import { Empty, type Secret, ShownOnce, TimeAfter } from "./states.tsx"
import { LONGEST_TITLE } from "./titles.tsx"
import { usePages } from "./usePages.ts"

interface Named extends Titled {
  readonly name: string
}

const idOf = ({ name }: Named): string => name

type NamedColumn<Item> = readonly [
  head: string,
  cell: (item: Item) => ComponentChildren,
  sort: Sorts<Item>[string],
]

/** Things that administrators create by their names, and change or remove by them. */
export interface Kind<Item extends Named, Made extends Named = Item> {
  readonly noun: string
  readonly title: string
  readonly path: string
  readonly list?: (limit?: number) => List<Item>
  /** The size of its rows, which the style sheet knows too. */
  readonly size?: "watch"
  readonly empty: readonly [title: string, text: string]
  readonly subjectOf: (item: Item) => ComponentChildren
  /** The page of an item that has one. */
  readonly linkOf?: (item: Item) => string
  /** The heads of two columns, what an item has there, and by what the head sorts. */
  readonly label: NamedColumn<Item>
  readonly when: NamedColumn<Item>
  readonly noteOf?: (item: Item) => ComponentChildren
  /** Its last 24 hours. */
  readonly stripOf?: (item: Item) => ComponentChildren
  /** What can be done with several that are selected; without it, rows have no boxes. */
  readonly many?: ReadonlyArray<ManyAct<Item>>
  /** Actions that others than administrators have too. */
  readonly actionsOf?: (item: Item) => ComponentChildren
  readonly creates: string
  /** The ID of a new one that has a title or other texts in place of a name. Without it, there are no titles. */
  readonly idOf?: (texts: Texts) => string | undefined
  readonly fieldsOf: (former: Item | undefined) => Readonly<Record<string, FormField>>
  /** The body besides the name; with a name, where none is given. */
  readonly bodyOf: (texts: Texts, former: Item | undefined, model?: Item) => object
  /** The model of a new one, where it can begin as a copy of another one. */
  readonly copyOf?: (item: Item) => Item
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
  if (idIn === undefined) return { name: { label: "Name" } }
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
  if (former === undefined) {
    const create: FormAct[1] = async ({ name = "", title = "", ...texts }) => {
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
        />
        {children}
      </>
    )
  }
  const change: FormAct[1] = async ({ title, ...texts }) => {
    const body = {
      ...kind.bodyOf(texts, former),
      ...(title !== undefined && { title: title === "" ? null : title }),
    }
    await call("PATCH", `${kind.path}/${segment(former.name)}`, { body })
    changed.value = undefined
    onSave?.()
    return { text: `Changed ${former.name}` }
  }
  const close = () => (changed.value = undefined)
  return (
    <Dialog name={`Change ${former.name}`} onClose={close}>
      <Form
        key={former.name}
        title={former.name}
        fields={kind.idOf === undefined ? fields : { title: titleField(former.title ?? ""), ...fields }}
        acts={[...acts, ["Save", change, "main"]]}
      >
        <QuietButton does={close}>Cancel</QuietButton>
      </Form>
      {children}
    </Dialog>
  )
}

type ActionsProps<Item extends Named, Made extends Named> = TableProps<Item, Made> & { readonly item: Item }

const NamedActions = <Item extends Named, Made extends Named>(props: ActionsProps<Item, Made>) => {
  const { item, changed, copied, shown } = props
  const { noun, path, replaces, secretOf, warning } = props.of
  const { name } = item
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

/** The order of a head is called as the head. */
const sortOf = (head: string): string => head.toLowerCase().replace(" ", "-")

/** Columns that stay the same, so that no row is drawn again before its item changes. */
const columnsOf = <Item extends Named, Made extends Named>(
  latest: { readonly current: ListProps<Item, Made> },
  shared: string,
): Columns<Item> => {
  const { copyOf, label, when } = latest.current.of
  const nameOf = nameAmong(shared, idOf)
  const drawName = (item: Item) => {
    const { linkOf, subjectOf } = latest.current.of
    const link = linkOf?.(item)
    const shown = nameOf(item)
    return (
      <>
        {link === undefined ? <b>{shown}</b> : mainLink(link, shown)}
        <span class="subject">
          {shown === item.title && <em class="label">{item.name}</em>} {subjectOf(item)}
        </span>
      </>
    )
  }
  const drawLabel = (item: Item) => {
    const note = latest.current.of.noteOf?.(item)
    return (
      <span class="notes">
        {label[1](item)}
        {Boolean(note) && <em>{note}</em>}
      </span>
    )
  }
  const drawActions = (item: Item) => (
    <>
      <span class="actions">
        {latest.current.of.actionsOf?.(item)}
        {latest.current.actionsOf?.(item)}
      </span>
      {latest.current.of.stripOf?.(item)}
    </>
  )
  return [
    column("Name", 2, drawName, "name"),
    column(label[0], "minmax(8rem, 1fr)", drawLabel, sortOf(label[0])),
    column(when[0], "12.5rem", (item) => <span class="when">{when[1](item)}</span>, sortOf(when[0])),
    column("", copyOf === undefined ? "16.5rem" : "20.5rem", drawActions),
  ]
}

const sortsOf = <Item extends Named>({ label, when }: Pick<Kind<Item>, "label" | "when">): Sorts<Item> => ({
  name: ({ name, title }) => title ?? name,
  [sortOf(label[0])]: label[2],
  [sortOf(when[0])]: when[2],
})

const NO_ACTS: ReadonlyArray<never> = []

export const NamedList = <Item extends Named, Made extends Named>(props: ListProps<Item, Made>) => {
  const { empty, many: acts = NO_ACTS, noun, title, path, size = "named" } = props.of
  const { list: listWith = (limit?: number) => listOf<Item>(path, {}, limit) } = props.of
  const { filter = "", sort = "name" } = route.value.parameters
  const list = arranged(listWith, { sorts: sortsOf(props.of), sort, search: filter })
  const listed = usePages(list)
  const shared = useMemo(() => sharedTitles(itemsOf(listed.pages), idOf), [listed.pages])
  const [boxes, bar, form] = useMany({ noun, acts, list, listed, idOf, nameOf: nameAmong(shared, idOf) })
  const latest = useRef(props)
  latest.current = props
  const picks = acts.length > 0 && mayRespond.value
  const columns = useMemo(
    () => [...(picks ? [boxes] : []), ...columnsOf(latest, shared)],
    [boxes, picks, shared],
  )
  return (
    <>
      {(filter !== "" || rowCount(listed.pages) > 0) && (
        <div class="tools">
          <div class="filters">
            <FilterField what="title, name or address" />
          </div>
          {bar}
        </div>
      )}
      {form}
      <Listing
        label={title}
        kind={`named ${size}${picks ? " picks" : ""}`}
        columns={columns}
        listed={listed}
        keyOf={idOf}
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
