import type { ComponentChildren } from "preact"
import type { ApiFailure } from "../api/ApiFailure.ts"
import { type Pages, rowCount } from "../state/Pages.ts"
import { Rows, type RowSize } from "./Rows.tsx"
import { ReadingNote } from "./states.tsx"

interface ListingProps<Item> {
  readonly label: string
  readonly listed: {
    readonly key: string
    readonly pages: Pages<Item>
    readonly failure: ApiFailure | undefined
    readonly see: (first: number, last: number) => void
  }
  readonly keyOf: (item: Item) => string
  /** See {@link Rows}. */
  readonly size?: RowSize
  /** Shown instead of a list without items. */
  readonly empty: ComponentChildren
  readonly children: (item: Item) => ComponentChildren
}

/** A list in the state of its reading, empty or as rows. */
export const Listing = <Item,>({ label, listed, keyOf, size, empty, children }: ListingProps<Item>) => {
  const { key, pages, failure, see } = listed
  const isEmpty = rowCount(pages) === 0
  const isRead = !isEmpty || pages.next === null
  return (
    <>
      <ReadingNote reading={{ value: isRead ? pages : undefined, failure }} />
      {isEmpty && isRead && empty}
      <Rows key={key} label={label} pages={pages} see={see} keyOf={keyOf} size={size}>
        {children}
      </Rows>
    </>
  )
}
