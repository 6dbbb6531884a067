import type { ComponentChildren } from "preact"
import type { Sorts } from "../state/arranged.ts"
import type { List } from "../state/lists.ts"
import type { Titled } from "../state/names.ts"
import type { FormField, Texts } from "./FormField.ts"
import type { ManyAct } from "./manyActs.tsx"
import type { Secret } from "./states.tsx"

/** A thing that has a name, and a title for people. */
export interface Named extends Titled {
  readonly name: string
}

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
  /** Reads one as it is now, where its path has none. */
  readonly read?: (name: string) => Promise<Item | undefined>
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
  /** The acts on several that are selected; without them, rows have no boxes. */
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
