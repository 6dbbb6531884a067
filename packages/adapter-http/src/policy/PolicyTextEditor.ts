import {
  type CST,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from "yaml"

/** A place of a text, and what takes it. */
export interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** The text with edits made, whose places are those of the text as it was. */
export const applied = (text: string, edits: ReadonlyArray<Edit>): string =>
  edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((edited, { from, text: put, to }) => `${edited.slice(0, from)}${put}${edited.slice(to)}`, text)

/** The tokens of a type in a part of the syntax tree. */
export const tokensIn = (part: unknown, type: CST.SourceToken["type"]): ReadonlyArray<CST.SourceToken> => {
  if (typeof part !== "object" || part === null) return []
  const inside = Object.values(part).flatMap((each) => tokensIn(each, type))
  // Of these types, all are tokens.
  return "type" in part && part.type === type ? [part as CST.SourceToken, ...inside] : inside
}

/** A value on one line, as it fits anywhere in YAML. */
export const onLine = (value: unknown): string => {
  const text = stringify([value], { aliasDuplicateObjects: false, collectionStyle: "flow", lineWidth: 0 })
    .trimEnd()
    .slice(2, -2)
  // A text of several lines is written so.
  return text.includes("\n") ? JSON.stringify(value) : text
}

/** Why a change cannot be made in a text. */
export const UNFIT = "cannot be changed within the text that is stored: apply the whole policy"

const isList = (node: unknown) => isMap(node) || isSeq(node)

/** Where a node ends, before a comment on its line; a block of text ends with its last line. */
export const endOf = (node: unknown): number => {
  if (isPair(node)) return endOf(node.value ?? node.key)
  const last = isList(node) && node.flow !== true ? node.items.at(-1) : undefined
  if (last !== undefined) return endOf(last)
  return (isNode(node) && node.range?.[1]) || 0
}

/** Where a node begins; of a pair, its key. */
export const startOf = (node: unknown): number => {
  if (isPair(node)) return startOf(node.key)
  return (isNode(node) && node.range?.[0]) || 0
}

export const pairIn = (map: unknown, name: string): Pair | undefined =>
  isMap(map) ? map.items.find(({ key }) => isScalar(key) && key.value === name) : undefined

type Collection = YAMLMap | YAMLSeq

/** The parts of the syntax tree that have an entry; a comment may have one, too. */
const partsOf = ({ srcToken }: Collection): ReadonlyArray<CST.CollectionItem> =>
  srcToken !== undefined && "items" in srcToken
    ? srcToken.items.filter(({ key, start, value }) =>
        srcToken.type === "block-seq"
          ? start.some(({ type }) => type === "seq-item-ind")
          : (key ?? value) !== undefined && (key ?? value) !== null,
      )
    : []

/** Edits of one text that leave all other text as it is. All places are those of the text as it was. */
export class PolicyTextEditor {
  readonly text: string
  readonly eol: string
  readonly #isJson: boolean

  constructor(text: string, root: unknown) {
    this.text = text
    this.eol = text.includes("\r\n") ? "\r\n" : "\n"
    // JSON stays JSON.
    this.#isJson = isList(root) && root.flow === true
  }

  print(value: unknown): string {
    return this.#isJson ? JSON.stringify(value) : onLine(value)
  }

  lineStart(at: number): number {
    return this.text.lastIndexOf("\n", at - 1) + 1
  }

  /** Behind the line that has the last character before a place. */
  lineEnd(end: number): number {
    const at = this.text.indexOf("\n", end - 1)
    return at === -1 ? this.text.length : at + 1
  }

  isBlank(from: number, to: number): boolean {
    return this.text.slice(from, to).trim() === ""
  }

  /** The space before a place that is the first on its line. */
  indentAt(at: number): string | undefined {
    const from = this.lineStart(at)
    return this.isBlank(from, at) ? this.text.slice(from, at) : undefined
  }

  /** Puts a value in place of that of an entry, in its line. */
  replaced(node: unknown, value: unknown): Edit {
    const old = isPair(node) ? node.value : node
    const [from, text] = [startOf(old), this.print(value)]
    if (from === endOf(old)) return { from, to: from, text: ` ${text}` }
    const to = from + this.text.slice(from, endOf(old)).trimEnd().length
    if (!isPair(node)) return { from, to, text }
    const behind = (tokensIn(node.srcToken?.sep, "map-value-ind")[0]?.offset ?? from) + 1
    // A comment behind the key keeps the value on a line below it.
    const isMoved = this.lineEnd(behind) <= from && this.isBlank(behind, from)
    return isMoved ? { from: behind, to, text: ` ${text}` } : { from, to, text }
  }

  /** Adds a key, or an item at a place. */
  added(list: Collection, value: unknown, at: string | number): Edit {
    const entry = typeof at === "string" ? `${this.print(at)}: ${this.print(value)}` : this.print(value)
    const place = typeof at === "string" ? list.items.length : at
    if (list.items.length === 0) {
      const inside = (list.range?.[0] ?? 0) + 1
      return { from: inside, to: inside, text: isMap(list) ? ` ${entry} ` : entry }
    }
    return list.flow === true ? this.#addedInBraces(list, entry, place) : this.#addedLine(list, entry, place)
  }

  #addedInBraces(list: Collection, entry: string, place: number): Edit {
    const next = list.items[place]
    if (next !== undefined) {
      const from = startOf(next)
      const indent = this.indentAt(from)
      return { from, to: from, text: indent === undefined ? `${entry}, ` : `${entry},${this.eol}${indent}` }
    }
    const last = list.items.at(-1)
    const indent = this.indentAt(startOf(last))
    const from = endOf(last)
    return { from, to: from, text: indent === undefined ? `, ${entry}` : `,${this.eol}${indent}${entry}` }
  }

  /** Behind the line of the entry before, so that comments above the next one stay there. */
  #addedLine(list: Collection, entry: string, place: number): Edit {
    const parts = partsOf(list)
    const starts = parts.map((part, n) => this.#entryStart(list, part, n))
    const [first = 0] = starts
    const column = " ".repeat(first - this.lineStart(first))
    const line = isSeq(list) ? `${column}- ${entry}` : `${column}${entry}`
    if (place === 0) {
      const indent = this.indentAt(first)
      const from = indent === undefined ? first : this.lineStart(first)
      // The first item may stand on the line of the item around it.
      return {
        from,
        to: from,
        text: indent === undefined ? `${line.trimStart()}${this.eol}${column}` : `${line}${this.eol}`,
      }
    }
    const from = this.lineEnd(endOf(list.items[place - 1]))
    const isEnded = this.text.endsWith("\n", from)
    return { from, to: from, text: isEnded ? `${line}${this.eol}` : `${this.eol}${line}` }
  }

  #entryStart(list: Collection, part: CST.CollectionItem | undefined, n: number): number {
    const dash = isSeq(list) ? part?.start.find(({ type }) => type === "seq-item-ind") : undefined
    return dash?.offset ?? startOf(list.items[n])
  }

  /** Removes an entry with its lines; without another entry, its list is empty. */
  removed(around: unknown, list: Collection, place: number): ReadonlyArray<Edit> {
    const item = list.items[place]
    if (list.flow === true) return this.cutFromBraces(list, place)
    if (list.items.length === 1) return [this.replaced(around, isMap(list) ? {} : [])]
    const parts = partsOf(list)
    const start = this.#entryStart(list, parts[place], place)
    const end = this.lineEnd(endOf(item))
    const indent = this.indentAt(start)
    if (indent !== undefined) {
      const from = start - indent.length
      // The text may have no last line end.
      const isLast = end === this.text.length && !this.text.endsWith("\n")
      return [{ from: isLast ? Math.max(0, from - this.eol.length) : from, to: end, text: "" }]
    }
    // The next entry takes its place behind the dash around it.
    const next = this.#entryStart(list, parts[place + 1], place + 1)
    const isBeside = this.isBlank(end, next)
    return [{ from: start, to: isBeside ? next : end - this.eol.length, text: "" }]
  }

  /** With the comma behind the entry, or else the one before it. */
  cutFromBraces(list: Collection, place: number, comments = ""): ReadonlyArray<Edit> {
    const text = comments === "" ? "" : `${this.eol}${comments}`
    const item = list.items[place]
    const [from, to] = [startOf(item), endOf(item)]
    const { srcToken } = list
    const items: ReadonlyArray<CST.CollectionItem> =
      srcToken !== undefined && "items" in srcToken ? srcToken.items : []
    const part = partsOf(list)[place]
    const next = part && items[items.indexOf(part) + 1]
    const [comma] = tokensIn([next?.start, part?.start], "comma")
    if (comma === undefined) return [{ from, to, text }]
    const isBefore = comma.offset < from
    const end = comma.offset + 1
    if (!(isBefore ? this.isBlank(end, from) : this.isBlank(to, comma.offset)))
      return [
        { from, to, text },
        { from: comma.offset, to: end, text: "" },
      ]
    if (isBefore) return [{ from: comma.offset, to, text }]
    const space = /\s*/uy
    space.lastIndex = end
    return [{ from, to: end + (space.exec(this.text)?.[0].length ?? 0), text }]
  }
}
