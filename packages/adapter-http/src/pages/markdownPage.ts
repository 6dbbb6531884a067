import { hash } from "node:crypto"

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-")

/** A page that stands beside this one, a place in one, or another site; anything else leads nowhere from here. */
const addressOf = (target: string, pages: ReadonlySet<string>): string | undefined => {
  const [page = ""] = target.split("#", 1)
  return page === "" || pages.has(page) || /^https?:\/\//.test(target) ? target : undefined
}

/** The words of a line: code, strong and emphasized text, links; of an image its text. */
const inline = (line: string, pages: ReadonlySet<string>): string =>
  line.replaceAll(
    /`([^`]+)`|!?\[([^[\]]*)\]\(([^)\s]{0,300})\)|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|[&<>"]/g,
    (found: string, code?: string, text?: string, target?: string, strong?: string, em?: string) => {
      if (code !== undefined) return `<code>${escaped(code)}</code>`
      if (strong !== undefined) return `<strong>${inline(strong, pages)}</strong>`
      if (em !== undefined) return `<em>${inline(em, pages)}</em>`
      if (text === undefined || target === undefined) return escaped(found)
      const address = found.startsWith("!") ? undefined : addressOf(target, pages)
      const shown = inline(text, pages)
      return address === undefined ? shown : `<a href="${escaped(address)}">${shown}</a>`
    },
  )

const cellsOf = (row: string): ReadonlyArray<string> =>
  row
    .slice(1, row.trimEnd().endsWith("|") ? row.trimEnd().length - 1 : undefined)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"))

const rowOf = (row: string, tag: "td" | "th", pages: ReadonlySet<string>): string =>
  `<tr>${cellsOf(row)
    .map((cell) => `<${tag}>${inline(cell, pages)}</${tag}>`)
    .join("")}</tr>`

const ITEM = /^(?<indent> *)(?<mark>[-*]|\d+\.) (?<text>.*)$/

/** The first lines for which something holds. */
const leading = (lines: ReadonlyArray<string>, holds: (line: string) => boolean): ReadonlyArray<string> => {
  const end = lines.findIndex((line) => !holds(line))
  return end === -1 ? lines : lines.slice(0, end)
}

const isOfList = (line: string): boolean => ITEM.test(line) || /^ {2,}\S/.test(line)

/** A list with what its items have below them. */
const listOf = (lines: ReadonlyArray<string>, pages: ReadonlySet<string>): string => {
  const first = ITEM.exec(lines[0] ?? "")?.groups
  const tag = /\d/.test(first?.["mark"] ?? "") ? "ol" : "ul"
  const depth = first?.["indent"]?.length ?? 0
  const items: Array<Array<string>> = []
  for (const line of lines) {
    const found = ITEM.exec(line)?.groups
    if (found?.["indent"]?.length === depth) items.push([found["text"] ?? ""])
    else items.at(-1)?.push(line)
  }
  const shown = items.map(([text = "", ...rest]) => {
    const more = leading(rest, (line) => !ITEM.test(line))
    const below = rest.slice(more.length)
    const words = inline([text, ...more.map((line) => line.trim())].join(" "), pages)
    return `<li>${words}${below.length === 0 ? "" : listOf(below, pages)}</li>`
  })
  return `<${tag}>${shown.join("")}</${tag}>`
}

type Block = readonly [html: string, lines: number]

/** The first block of some lines, of which the first one is not blank. */
const blockOf = (lines: ReadonlyArray<string>, pages: ReadonlySet<string>): Block => {
  const [line = ""] = lines
  const heading = /^(?<marks>#{1,6}) (?<title>.*)$/.exec(line)?.groups
  if (heading !== undefined) {
    const { marks = "", title = "" } = heading
    return [
      `<h${marks.length} id="${escaped(anchorOf(title))}">${inline(title, pages)}</h${marks.length}>`,
      1,
    ]
  }
  if (line.startsWith("```")) {
    const body = leading(lines.slice(1), (each) => !each.startsWith("```"))
    return [`<pre><code>${escaped(body.join("\n"))}</code></pre>`, body.length + 2]
  }
  if (line.startsWith("<!--")) {
    const body = leading(lines, (each) => !each.includes("-->"))
    return ["", body.length + 1]
  }
  if (line.startsWith("|")) {
    const [head = "", _, ...rows] = leading(lines, (each) => each.startsWith("|"))
    const body = rows.map((row) => rowOf(row, "td", pages)).join("")
    return [
      `<table><thead>${rowOf(head, "th", pages)}</thead><tbody>${body}</tbody></table>`,
      rows.length + 2,
    ]
  }
  if (ITEM.test(line)) {
    const items = leading(lines, isOfList)
    return [listOf(items, pages), items.length]
  }
  const words = leading(lines, (each) => each.trim() !== "" && !/^(?:```|[|#])/.test(each))
  const [text, count] = words.length === 0 ? [[line], 1] : [words, words.length]
  return [`<p>${inline(text.join(" "), pages)}</p>`, count]
}

const STYLE =
  "body{max-width:60rem;margin:0 auto;padding:1rem;font:1rem/1.5 system-ui,sans-serif}pre{overflow-x:auto}table{border-collapse:collapse;display:block;overflow-x:auto}th,td{border:1px solid;padding:.25rem .5rem;text-align:left;vertical-align:top}"

const HASH = hash("sha256", STYLE, "base64")

/** The header fields of such a page, which has no script. */
export const MARKDOWN_FIELDS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
} as const

/** A page of the documentation as HTML, whose headings have anchors (docs/console.md). */
export const markdownPage = (markdown: string, pages: ReadonlySet<string>): string => {
  const lines = markdown.split("\n")
  const blocks: Array<string> = []
  for (let at = 0; at < lines.length;) {
    if (lines[at]?.trim() === "") at += 1
    else {
      const [html, count] = blockOf(lines.slice(at), pages)
      blocks.push(html)
      at += count
    }
  }
  const title = /^# (?<title>.*)$/m.exec(markdown)?.groups?.["title"] ?? "Tocsin"
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${blocks.join("\n")}
</body>
</html>
`
}
