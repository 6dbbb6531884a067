import type { Paging } from "@tocsin/client/Parameters"
import type { Page } from "@tocsin/client/Resources"

// The most that a page holds: fewest round trips, and bounded all the same.
const LARGEST_PAGE = 500

/**
 * The items of all pages, read a page at a time as they are asked for. Items that exist, and keep their place in the order,
 * during the whole walk are seen exactly once. Rejects with what a page rejects with.
 */
export async function* allPages<Item, Parameters extends Paging>(
  list: (parameters: Parameters) => Promise<Page<Item>>,
  parameters: Parameters,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null | undefined
  do {
    const page = await list({ limit: LARGEST_PAGE, ...parameters, ...(cursor && { cursor }) })
    yield* page.items
    cursor = page.next_cursor
  } while (cursor)
}
