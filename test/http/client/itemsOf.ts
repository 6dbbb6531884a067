import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { operate } from "./call.ts"

/** One item of a list. */
export type Item = Readonly<Record<string, unknown>>

/** A page of a list. */
export interface Page {
  readonly items: ReadonlyArray<Item>
  readonly next_cursor: string | null
  readonly prev_cursor: string | null
}

/** Reads one page of a list. Shapes are checked where the endpoints are. */
export const pageOf = Effect.fnUntraced(function* (path: string) {
  const answer = yield* operate("GET", path)
  assert.strictEqual(answer.status, 200, answer.text)
  const page = answer.body as Partial<Page>
  assert.isArray(page.items)
  return { items: [], next_cursor: null, prev_cursor: null, ...page } satisfies Page as Page
})

/** Reads the items of the first page of a list. */
export const itemsOf = (path: string) => Effect.map(pageOf(path), ({ items }) => items)
