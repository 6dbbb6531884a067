import type { ComponentChildren } from "preact"
import { listOf } from "../state/lists.ts"
import { Listing } from "./Listing.tsx"
import { Time } from "./marks.tsx"
import { Empty } from "./states.tsx"
import { usePages } from "./usePages.ts"

/** The parts of a row beside its name. */
interface RowParts {
  readonly subject: ComponentChildren
  readonly label: string
  /** A second label, if there is something to say. */
  readonly note: ComponentChildren
  readonly when: ComponentChildren
  readonly actions: ComponentChildren
}

interface NamedListProps<Item> {
  readonly label: string
  readonly path: string
  readonly heads?: ReadonlyArray<string>
  /** The title and the text that are shown instead of a list without items. */
  readonly empty: readonly [title: string, text: string]
  readonly children: (item: Item) => RowParts
}

/** A list of things that administrators create by their names. */
export const NamedList = <Item extends { readonly name: string }>({
  label,
  path,
  heads = [],
  empty: [title, text],
  children,
}: NamedListProps<Item>) => (
  <Listing
    label={label}
    kind="operator"
    heads={heads}
    listed={usePages(listOf<Item>(path, {}))}
    keyOf={({ name }) => name}
    size="tall"
    empty={<Empty title={title}>{text}</Empty>}
  >
    {(item) => {
      const parts = children(item)
      return (
        <div class="row operator" data-id={item.name}>
          <b>{item.name}</b>
          <span class="subject">{parts.subject}</span>
          <span class="notes">
            <em class="taker">{parts.label}</em>
            {parts.note !== undefined && <em>{parts.note}</em>}
          </span>
          <span class="when">{parts.when}</span>
          {parts.actions}
        </div>
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
