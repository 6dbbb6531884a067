/** A text that YAML reads as that text without quotes, also within brackets. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off)$)(?:[A-Za-z_/][\w.@/-]*|\d+[smhd])$/i

/** A value on one line, as people write it in a policy: `{ to: [chat] }`. */
export const flowText = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(flowText).join(", ")}]`
  if (typeof value === "object" && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, part]) => `${flowText(key)}: ${flowText(part)}`)
      .join(", ")} }`
  return typeof value === "string" && PLAIN.test(value) ? value : JSON.stringify(value)
}

/** A part of a policy: one of a list such as `routes`, or of a map such as `rotas`, where it has a name. */
export interface PolicyItem {
  readonly key: string
  readonly name?: string
  readonly value: object
}

const itemLine = ({ name, value }: PolicyItem): string =>
  name === undefined ? `- ${flowText(value)}` : `${flowText(name)}: ${flowText(value)}`

/** An item below its key, where the policy has none yet. */
export const itemText = (item: PolicyItem): string => `${item.key}:\n  ${itemLine(item)}`

/** A policy as its text, without the comments that its writer made. */
export const textOfPolicy = (policy: object): string =>
  Object.entries(policy)
    .map(([key, part]) => {
      const items: ReadonlyArray<PolicyItem> = Array.isArray(part)
        ? part.map((value) => ({ key, value }))
        : Object.entries(part).map(([name, value]) => ({ key, name, value: Object(value) }))
      return [`${key}:`, ...items.map((item) => `  ${itemLine(item)}`), ""].join("\n")
    })
    .join("\n")

/** Whether a line belongs to the key above it: it is indented, an item, empty, or closes a bracket. */
const isPart = (line: string): boolean => /^(?:\s|-|[\]}]|#|$)/.test(line)
const isContent = (line: string): boolean => !/^\s*(?:#|$)/.test(line)

/** Adds an item before the last bracket of a list or map in brackets; nothing if it does not end with one. */
const withinBrackets = (lines: ReadonlyArray<string>, item: string): ReadonlyArray<string> | undefined => {
  const text = lines.join("\n")
  const found = /[\]}]\s*(?:#.*)?$/.exec(text)
  if (found === null) return undefined
  const [close] = found
  const begin = text.slice(0, found.index).trimEnd()
  return `${begin}${/[[{,]$/.test(begin) ? "" : ","} ${item} ${close}`.split("\n")
}

/** The lines of a key and its items, with one more. */
const withLine = (lines: ReadonlyArray<string>, item: PolicyItem): ReadonlyArray<string> | undefined => {
  const [head = "", ...items] = lines
  const { rest = "" } = /:\s*(?<rest>[^#]*)/.exec(head)?.groups ?? {}
  const first = items.find(isContent) ?? "  "
  const line = itemLine(item)
  if (/^(?:\[\s*\]|\{\s*\})\s*$/.test(rest)) return [`${item.key}:`, `  ${line}`]
  if (rest === "" && !/^\s*[[{]/.test(first)) return [...lines, `${/^\s*/.exec(first)?.[0] ?? ""}${line}`]
  return withinBrackets(lines, line.replace(/^- /, ""))
}

/**
 * The text of a policy with one more item, below the others of its key; all other lines stay, comments too.
 * Undefined for a text whose form it does not know, such as JSON.
 */
export const withItem = (text: string, item: PolicyItem): string | undefined => {
  const { key } = item
  const isEmpty = ["", "{}"].includes(text.replaceAll(/\s+/g, ""))
  if (!isEmpty && text.trimStart().startsWith("{")) return undefined
  const lines = isEmpty ? [] : text.trimEnd().split("\n")
  const place = lines.findIndex((line) => line.startsWith(`${key}:`))
  if (place === -1) return [...lines, itemText(item), ""].join("\n")
  const follows = lines.slice(place + 1)
  const end = follows.findIndex((line) => !isPart(line))
  // Comments before the next key are about that one.
  const length = 1 + follows.slice(0, end === -1 ? undefined : end).findLastIndex(isContent) + 1
  const next = withLine(lines.slice(place, place + length), item)
  return next && [...lines.slice(0, place), ...next, ...lines.slice(place + length), ""].join("\n")
}
