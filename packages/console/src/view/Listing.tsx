import type { ComponentChildren } from "preact"
import { type ApiFailure, isUnreached } from "../api/ApiFailure.ts"
import { type Pages, rowCount } from "../state/Pages.ts"
import { Rows } from "./Rows.tsx"
import { Empty, FailureNote, Loading } from "./states.tsx"

interface ListingProps<Item> {
  readonly label: string
  readonly listed: {
    readonly pages: Pages<Item>
    readonly failure: ApiFailure | undefined
    readonly see: (first: number, last: number) => void
  }
  readonly keyOf: (item: Item) => string
  /** Shown instead of a list without items. */
  readonly empty: ComponentChildren
  readonly children: (item: Item) => ComponentChildren
}

/** A list in one of its states: loading, empty, unreadable, or as rows. */
export const Listing = <Item,>({ label, listed, keyOf, empty, children }: ListingProps<Item>) => {
  const { pages, failure, see } = listed
  const isEmpty = rowCount(pages) === 0
  const isLost = failure !== undefined && isUnreached(failure)
  return (
    <>
      {failure !== undefined && !isLost && <FailureNote failure={failure} />}
      {isEmpty && pages.next === null && empty}
      {isEmpty && pages.next !== null && isLost && (
        <Empty title="Waiting for the server">The list appears as soon as the connection is back.</Empty>
      )}
      {isEmpty && pages.next !== null && failure === undefined && <Loading />}
      {!isEmpty && isLost && <p class="lead">This list is not current: the server does not answer.</p>}
      <Rows label={label} pages={pages} see={see} keyOf={keyOf}>
        {children}
      </Rows>
    </>
  )
}
