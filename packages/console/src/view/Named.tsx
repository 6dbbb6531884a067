import type { Signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { segment } from "../api/request.ts"
import type { List } from "../state/lists.ts"
import { call, mayAdminister } from "../state/session.ts"
import { ActionButton, QuietButton } from "./buttons.tsx"
import { Form, type FormAct, type FormField, type Secret } from "./forms.tsx"
import { Listing } from "./Listing.tsx"
import { Time } from "./marks.tsx"
import { Empty } from "./states.tsx"
import { usePages } from "./usePages.ts"

interface Named {
  readonly name: string
}

/** A kind of things that administrators create by their names, and change or remove by them. */
export interface Kind<Made extends Named> {
  readonly noun: string
  /** The label of the button that creates one. */
  readonly creates: string
  readonly path: string
  /** The consequence of a removal: `Their tokens end immediately.` */
  readonly warning: string
  /** The label of the button that replaces the secret, and what it did: `Rotated the token`. */
  readonly replaces?: readonly [label: string, done: string]
  /** The secret of a new one, or of one whose secret was replaced. */
  readonly secretOf?: (made: Made) => Secret
}

type Shown = Signal<Secret | undefined>

/** Creates one, and shows its secret. */
export const createNamed = async <Made extends Named>(
  { path, secretOf }: Pick<Kind<Made>, "path" | "secretOf">,
  body: object,
  shown?: Shown,
) => {
  const made = await call<Made>("POST", path, { body })
  if (shown !== undefined) shown.value = secretOf?.(made)
  return { text: `Created ${made.name}` }
}

interface NamedFormProps<Item extends Named, Made extends Named> {
  readonly kind: Kind<Made>
  /** The one that the form changes; without one, it creates one. */
  readonly changed: Signal<Item | undefined>
  readonly fields: Readonly<Record<string, FormField>>
  /** The body besides the name; with a name, where none is given. */
  readonly bodyOf: (texts: Readonly<Record<string, string>>) => object
  readonly acts?: ReadonlyArray<FormAct>
  readonly shown?: Shown
}

/** Creates or changes one. */
export const NamedForm = <Item extends Named, Made extends Named>({
  kind,
  changed,
  fields,
  bodyOf,
  acts = [],
  shown,
}: NamedFormProps<Item, Made>) => {
  const former = changed.value
  if (former === undefined) {
    const create: FormAct[1] = ({ name = "", ...texts }) =>
      createNamed(kind, { ...bodyOf(texts), ...(name !== "" && { name }) }, shown)
    const named = "name" in fields ? fields : { name: { label: "Name" }, ...fields }
    return <Form key="" fields={named} acts={[...acts, [kind.creates, create, "main"]]} />
  }
  const change: FormAct[1] = async (texts) => {
    await call("PATCH", `${kind.path}/${segment(former.name)}`, { body: bodyOf(texts) })
    changed.value = undefined
    return { text: `Changed ${former.name}` }
  }
  return (
    <Form key={former.name} title={former.name} fields={fields} acts={[...acts, ["Save", change, "main"]]}>
      <QuietButton does={() => (changed.value = undefined)}>Cancel</QuietButton>
    </Form>
  )
}

interface NamedActionsProps<Item extends Named, Made extends Named> {
  readonly item: Item
  readonly kind: Kind<Made>
  readonly changed?: Signal<Item | undefined> | undefined
  readonly shown?: Shown
}

/** Changes one, replaces its secret, or removes it. */
export const NamedActions = <Item extends Named, Made extends Named>({
  item,
  kind: { noun, path, replaces, secretOf, warning },
  changed,
  shown,
}: NamedActionsProps<Item, Made>) => {
  const { name } = item
  if (!mayAdminister.value) return null
  return (
    <>
      {changed !== undefined && (
        <QuietButton describes={`Change ${name}`} does={() => (changed.value = item)}>
          Change
        </QuietButton>
      )}
      {replaces !== undefined && shown !== undefined && (
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
        does={async () => {
          await call("DELETE", `${path}/${segment(name)}`)
          return { text: `Removed ${name}` }
        }}
      >
        Remove
      </ActionButton>
    </>
  )
}

interface NamedListProps<Item> {
  readonly label: string
  readonly list: List<Item>
  readonly heads: ReadonlyArray<string>
  /** The title and the text that are shown instead of a list without items. */
  readonly empty: readonly [title: string, text: string]
  readonly children: (item: Item) => {
    readonly subject: ComponentChildren
    readonly label: ComponentChildren
    /** A second label, if there is something to say. */
    readonly note?: ComponentChildren
    readonly when: ComponentChildren
    readonly actions: ComponentChildren
  }
}

export const NamedList = <Item extends Named>({
  label,
  list,
  heads,
  empty: [title, text],
  children,
}: NamedListProps<Item>) => (
  <Listing
    label={label}
    kind="named"
    heads={heads}
    listed={usePages(list)}
    keyOf={({ name }) => name}
    size="named"
    empty={<Empty title={title}>{text}</Empty>}
  >
    {(item) => {
      const parts = children(item)
      return (
        <>
          <b title={item.name}>{item.name}</b>
          <span class="subject">{parts.subject}</span>
          <span class="notes">
            {parts.label}
            {Boolean(parts.note) && <em>{parts.note}</em>}
          </span>
          <span class="when">{parts.when}</span>
          <span class="actions">{parts.actions}</span>
        </>
      )
    }}
  </Listing>
)

/** When something was last done, if ever: `used 5m ago`. */
export const Last = ({
  did,
  at,
  never,
}: {
  readonly did: string
  readonly at: string | null
  readonly never: string
}) =>
  at === null ? (
    <>{never}</>
  ) : (
    <>
      {did} <Time at={at} />
    </>
  )
