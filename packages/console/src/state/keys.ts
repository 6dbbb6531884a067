/** The command of a key. The open page carries out those that concern its rows. */
export type KeyCommand = { readonly command: "go"; readonly page: string } | { readonly command: Simple }

type Simple =
  | "filter"
  | "down"
  | "up"
  | "open"
  | "back"
  | "select"
  | "selectRange"
  | "acknowledge"
  | "silence"
  | "note"
  | "explain"
  | "help"

/** The second key after `g`. */
const PAGES: Readonly<Record<string, string>> = {
  i: "incidents",
  a: "agents",
  d: "admission",
  c: "checks",
  s: "silences",
  o: "outbox",
  u: "audit",
  w: "watches",
  t: "integrations",
  p: "operators",
  y: "system",
}

const KEYS: Readonly<Record<string, Simple>> = {
  "/": "filter",
  j: "down",
  k: "up",
  Enter: "open",
  Escape: "back",
  x: "select",
  X: "selectRange",
  a: "acknowledge",
  s: "silence",
  n: "note",
  e: "explain",
  "?": "help",
}

/** Keys and what they do for somebody with this role, for the help. */
export const keyHelp = (
  mayRespond: boolean,
  mayAdminister: boolean,
): ReadonlyArray<readonly [keys: string, what: string]> => [
  ...Object.entries(PAGES)
    .filter(([, page]) => page !== "operators" || mayAdminister)
    .map(([key, page]) => [`g ${key}`, `go to ${page}`] as const),
  ["/", "filter"],
  ["j k", "next and previous row"],
  ["Enter", "open the row"],
  ...(mayRespond ? ACTS : []),
  ["e", "explain"],
  ["Esc", "go back"],
  ["?", "this help"],
]

const ACTS = [
  ["x, Shift+x", "select a row, or all rows up to it"],
  ["a", "acknowledge, with 10 s to undo"],
  ["s", "silence"],
  ["n", "add a note"],
] as const

/** Whether `g` was the key before, and what the key does, if anything. */
export const nextKey = (
  afterG: boolean,
  key: string,
): { readonly afterG: boolean; readonly does: KeyCommand | undefined } => {
  if (afterG) {
    const page = Object.hasOwn(PAGES, key) ? PAGES[key] : undefined
    return { afterG: false, does: page === undefined ? undefined : { command: "go", page } }
  }
  if (key === "g") return { afterG: true, does: undefined }
  const command = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined
  return { afterG: false, does: command === undefined ? undefined : { command } }
}
