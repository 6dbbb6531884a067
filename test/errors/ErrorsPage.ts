import { readFileSync } from "node:fs"

const PAGE = "docs/errors.md"

/** A message as the page has it. */
export interface PageEntry {
  readonly wording: string
  /** Its meaning and what to do. */
  readonly explanation: string
  /** The heading that it stands below. */
  readonly section: string
}

/** A row of a table: the texts of its cells, without the marks of code. */
export type PageRow = ReadonlyArray<string>

interface Section {
  readonly title: string
  readonly text: string
}

const withoutCode = (page: string): string => page.replaceAll(/^```[^]*?^```$/gm, "")

const sections: ReadonlyArray<Section> = withoutCode(readFileSync(PAGE, "utf8"))
  .split(/^#+ /m)
  .map((part) => {
    const [title = "", ...lines] = part.split("\n")
    return { title, text: lines.join("\n") }
  })

/** The rows of a section's tables by their heads; cells keep their marks of code. */
const tablesOf = (text: string): ReadonlyArray<readonly [head: string, rows: ReadonlyArray<PageRow>]> =>
  Array.from(text.matchAll(/^\| (.+) \|\n\|[-|]+\|\n((?:\|.*\n?)*)/gm), ([, head = "", rows = ""]) => [
    head,
    Array.from(rows.matchAll(/^\| (.+) \|$/gm), ([, row = ""]) => row.split(" | ")),
  ])

/** The head of the tables of messages. */
const MESSAGES = "message | what to do"

const entriesOf = ({ title, text }: Section): ReadonlyArray<PageEntry> =>
  tablesOf(text)
    .filter(([head]) => head === MESSAGES)
    .flatMap(([, rows]) => rows)
    .map(([wording = "", explanation = ""]) => ({
      wording: /^`([^`]+)`$/.exec(wording)?.[1] ?? `no message in ${wording}`,
      explanation,
      section: title,
    }))

/** Every message of the page. */
export const entries: ReadonlyArray<PageEntry> = sections.flatMap(entriesOf)

/** The text below a heading. */
export const sectionOf = (title: string): string =>
  sections.find((section) => section.title === title)?.text ?? ""

/** The headings between two others. */
export const titlesBetween = (first: string, end: string): ReadonlyArray<string> => {
  const titles = sections.map(({ title }) => title)
  return titles.slice(titles.indexOf(first) + 1, titles.indexOf(end))
}

/** The rows of the table below a heading that lists no messages. */
export const rowsOf = (title: string): ReadonlyArray<PageRow> =>
  tablesOf(sectionOf(title))
    .filter(([head]) => head !== MESSAGES)
    .flatMap(([, rows]) => rows.map((row) => row.map((cell) => cell.replaceAll("`", ""))))
