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

const entriesOf = ({ title, text }: Section): ReadonlyArray<PageEntry> =>
  Array.from(
    text.matchAll(/^- `([^`]+)`:\s([^]*?)(?=\n\n|\n- |\n*$(?![^]))/gm),
    ([, wording = "", said = ""]) => ({
      wording,
      explanation: said.replaceAll(/\s+/g, " ").trim(),
      section: title,
    }),
  )

/** Every message of the page. */
export const entries: ReadonlyArray<PageEntry> = sections.flatMap(entriesOf)

/** Lines that look like messages, read or not. */
export const countOfBullets = sections.reduce(
  (count, { text }) => count + Array.from(text.matchAll(/^- /gm)).length,
  0,
)

/** The text below a heading. */
export const sectionOf = (title: string): string =>
  sections.find((section) => section.title === title)?.text ?? ""

/** The headings between two others. */
export const titlesBetween = (first: string, end: string): ReadonlyArray<string> => {
  const titles = sections.map(({ title }) => title)
  return titles.slice(titles.indexOf(first) + 1, titles.indexOf(end))
}

/** The rows of the table below a heading, without its head. */
export const rowsOf = (title: string): ReadonlyArray<PageRow> =>
  Array.from(sectionOf(title).matchAll(/^\| (.+) \|$/gm), ([, row = ""]) =>
    row.split(" | ").map((cell) => cell.replaceAll("`", "")),
  ).slice(1)
