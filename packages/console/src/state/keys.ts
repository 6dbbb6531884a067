import { GROUPS } from "./navigation.ts"

const OF_ADMINISTRATORS = ["operators", "start"]

type PageKey = readonly [page: string, key: string]

export const groupsFor = (
  mayAdminister: boolean,
): ReadonlyArray<readonly [group: string, pages: ReadonlyArray<PageKey>]> =>
  Object.entries(GROUPS).map(([group, pages]) => [
    group,
    Object.entries(pages)
      .filter(([page]) => mayAdminister || !OF_ADMINISTRATORS.includes(page))
      .map(([page, { key }]) => [page, key]),
  ])

const pagesFor = (mayAdminister: boolean): ReadonlyArray<PageKey> =>
  groupsFor(mayAdminister).flatMap(([, pages]) => pages)

export const titleOfPage = (page: string): string =>
  `${page.slice(0, 1).toUpperCase()}${page.slice(1).replace("-", " ")}`

/** The command of a key. The open page carries out those that concern its rows. */
export type KeyCommand = { readonly command: "go"; readonly page: string } | { readonly command: Simple }

const LOOKS = [
  ["/", "filter", { "/": "filter" }],
  ["j k", "next and previous row", { j: "down", k: "up" }],
  ["Enter", "open the row", { Enter: "open" }],
] as const
const ACTS = [
  ["x, Shift+x", "select a row, or all rows up to it", { x: "select", X: "selectRange" }],
  ["a", "acknowledge, with 10 s to undo", { a: "acknowledge" }],
  ["s", "silence", { s: "silence" }],
  ["n", "add a note", { n: "note" }],
] as const
const OTHERS = [
  ["e", "explain", { e: "explain" }],
  ["Esc", "go back", { Escape: "back" }],
  ["?", "this help", { "?": "help" }],
] as const
/** Keys as the help names them, what it says of them, and the command of each. */
const KEYS = [...LOOKS, ...ACTS, ...OTHERS]
type ValueOf<A> = A extends unknown ? A[keyof A] : never
type Simple = ValueOf<(typeof KEYS)[number][2]>

const COMMANDS = new Map<string, Simple>(KEYS.flatMap(([, , commands]) => Object.entries(commands)))
const PAGE_OF_KEY = new Map(pagesFor(true).map(([page, key]) => [key, page]))

export const keyHelp = (
  mayRespond: boolean,
  mayAdminister: boolean,
): ReadonlyArray<readonly [keys: string, what: string]> => [
  ...pagesFor(mayAdminister).map(([page, key]) => [`g ${key}`, `go to ${page.replace("-", " ")}`] as const),
  ...[...LOOKS, ...(mayRespond ? ACTS : []), ...OTHERS].map(([keys, what]) => [keys, what] as const),
]

/** Whether `g` was the key before, and what the key does, if anything. */
export const nextKey = (
  afterG: boolean,
  key: string,
): { readonly afterG: boolean; readonly does: KeyCommand | undefined } => {
  if (afterG) {
    const page = PAGE_OF_KEY.get(key)
    return { afterG: false, does: page === undefined ? undefined : { command: "go", page } }
  }
  const command = COMMANDS.get(key)
  return { afterG: key === "g", does: command === undefined ? undefined : { command } }
}
