import type { ComponentChildren } from "preact"
import { useMemo, useRef } from "preact/hooks"
import { arranged, type Sorts } from "../state/arranged.ts"
import { listOf } from "../state/lists.ts"
import { route } from "../state/location.ts"
import { nameAmong, sharedTitles } from "../state/names.ts"
import { itemsOf, rowCount } from "../state/Pages.ts"
import { mayRespond } from "../state/session.ts"
import { column, type Columns, Listing } from "./Listing.tsx"
import { mainLink } from "./rowLinks.tsx"
import { useMany } from "./manyActs.tsx"
import type { Kind, Named } from "./NamedKind.ts"
import { FilterField } from "./navigation.tsx"
import { Empty } from "./states.tsx"
import { usePages } from "./usePages.ts"

const idOf = ({ name }: Named): string => name

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
  const { actionsOf, label, when } = latest.current.of
  const nameOf = nameAmong(shared, idOf)
  const drawName = (item: Item) => {
    const { linkOf, subjectOf } = latest.current.of
    const link = linkOf?.(item)
    const shown = nameOf(item)
    return (
      <>
        {link === undefined ? <b>{shown}</b> : mainLink(link, shown, item.name)}
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
    column("Name", "minmax(6rem,2fr)", drawName, "name"),
    column(label[0], "minmax(8rem,1fr)", drawLabel, sortOf(label[0])),
    column(
      when[0],
      "clamp(8rem,21vw - 5rem,14rem)",
      (item) => <span class="when">{when[1](item)}</span>,
      sortOf(when[0]),
    ),
    column("", actionsOf === undefined ? "16.5rem" : "clamp(19rem,30vw,21rem)", drawActions),
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
