/** Text that is HTML already. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "")

/** A part of a template: text is escaped, HTML is not. */
export type Part = string | Html | ReadonlyArray<Html>

const textOf = (part: Part): string => {
  if (typeof part === "string") return escaped(part)
  return part instanceof Html ? part.text : part.map(({ text }) => text).join("")
}

/** HTML from a template; parts that are not HTML are escaped. */
export const html = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html =>
  new Html(String.raw({ raw: strings }, ...parts.map(textOf)))
