import { signal } from "@preact/signals"
import { idOfTitle } from "@tocsin/contract/titles/idOfTitle"

/** A thing that people may have titled. */
export interface Titled {
  readonly title?: string | null | undefined
}

/** The titles that things of different IDs have, one in each line. */
export const sharedTitles = <Item>(
  items: ReadonlyArray<Item & Titled>,
  idOf: (item: Item) => string,
): string => {
  const ids = new Map<string, string>()
  const shared = new Set<string>()
  for (const item of items) {
    const { title } = item
    if (typeof title !== "string") continue
    if ((ids.get(title) ?? idOf(item)) !== idOf(item)) shared.add(title)
    ids.set(title, idOf(item))
  }
  return Array.from(shared).toSorted().join("\n")
}

/** The name of a row for people: its title, else its ID; both where another row has that title. */
export const nameAmong =
  <Item>(shared: string, idOf: (item: Item) => string) =>
  (item: Item & Titled): string => {
    const { title } = item
    if (typeof title !== "string") return idOf(item)
    return shared.split("\n").includes(title) ? `${title} (${idOf(item)})` : title
  }

/** Names of rows that are all known. */
export const namesIn = <Item>(
  items: ReadonlyArray<Item & Titled> = [],
  idOf: (item: Item) => string,
): ((item: Item & Titled) => string) => nameAmong(sharedTitles(items, idOf), idOf)

/** The characters of names beside lower-case letters and digits: those of receivers and rotas, of pages, of others. */
const MARKS = { _: /^[a-z0-9_]*$/, "-": /^[a-z0-9-]*$/, "._-": /^[a-z0-9._-]*$/ }

/** The name that a text is, or else becomes. */
export const asName = (text: string, marks: keyof typeof MARKS): string =>
  MARKS[marks].test(text) ? text : idOfTitle(text, "").replaceAll("-", marks === "-" ? "-" : "_")

/** The rule of a name, or what a text becomes by it. */
export const nameHint = (text: string, marks: keyof typeof MARKS): string => {
  const name = asName(text.trim(), marks)
  if (name === text.trim())
    return `Lower-case letters, digits${marks === "._-" ? ", ., _ and -" : ` and ${marks}`}`
  return name === "" ? "Write a letter from a to z or a digit." : `Name: ${name}`
}

export const idOfCheck = ({
  agent_id,
  check_id,
}: {
  readonly agent_id: string
  readonly check_id: string
}): string => `${agent_id}/${check_id}`

/** How people call the subject of the open page, for the title of the window. */
export const pageName = signal<string | undefined>(undefined)

/** By which texts come as people read them: 2 before 10, whatever the case and the marks of letters. */
export const naturalKey = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/\d+/g, (digits) => digits.padStart(20, "0"))

/** Compares items by their texts, as people read them. */
export const naturally =
  <Item>(textOf: (item: Item) => string) =>
  (one: Item, other: Item): number => {
    const [a, b] = [naturalKey(textOf(one)), naturalKey(textOf(other))]
    return a < b ? -1 : Number(a > b)
  }
