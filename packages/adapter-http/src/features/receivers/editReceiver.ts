import { isDeepStrictEqual } from "node:util"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import type { PolicyIssue } from "@tocsin/contract/policy/Policies"
import type { PolicyNotifiers } from "@tocsin/core/heart/policy/compilePolicy"
import type { ReceiverChange } from "@tocsin/core/kernel/ports/PolicySource"
import { Result } from "effect"
import {
  type CST,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  stringify,
  type YAMLMap,
} from "yaml"
import { openPolicyText, type PolicyText } from "../../policy/readPolicyText.ts"

/** A place of a text, and what takes it. */
interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

const LIST = "receivers"
const NO_RULES = "{}"

/** The tokens of a type in a part of the syntax tree. */
const tokensIn = (part: unknown, type: CST.SourceToken["type"]): ReadonlyArray<CST.SourceToken> => {
  if (typeof part !== "object" || part === null) return []
  const inside = Object.values(part).flatMap((each) => tokensIn(each, type))
  // Of these types, all are tokens.
  return "type" in part && part.type === type ? [part as CST.SourceToken, ...inside] : inside
}

/** A value on one line, as it fits anywhere in YAML. */
const onLine = (value: unknown): string => {
  const text = stringify(value, {
    aliasDuplicateObjects: false,
    collectionStyle: "flow",
    lineWidth: 0,
  }).trimEnd()
  // A text of several lines is written so.
  return text.includes("\n") ? JSON.stringify(value) : text
}

const isList = (node: unknown) => isMap(node) || isSeq(node)

/** Where a node ends, before a comment on its line; a block of text ends with its last line. */
const endOf = (node: unknown): number => {
  const last = isList(node) && node.flow !== true ? node.items.at(-1) : undefined
  if (last !== undefined) return endOf(isPair(last) ? (last.value ?? last.key) : last)
  return ((isList(node) || isScalar(node)) && node.range?.[1]) || 0
}

const startOf = ({ key }: Pair): number => (isScalar(key) && key.range?.[0]) || 0

const pairIn = (map: unknown, name: string): Pair | undefined =>
  isMap(map) ? map.items.find(({ key }) => isScalar(key) && key.value === name) : undefined

/** The edits of one text. All places are those of the text as it was. */
class PolicyEditor {
  readonly #text: string
  readonly #root: YAMLMap
  readonly #eol: string
  readonly #print: (value: unknown) => string

  constructor(text: string, root: YAMLMap) {
    this.#text = text
    this.#root = root
    this.#eol = text.includes("\r\n") ? "\r\n" : "\n"
    // JSON stays JSON.
    this.#print = root.flow === true ? (value) => JSON.stringify(value) : onLine
  }

  put(name: string, receiver: unknown): ReadonlyArray<Edit> {
    const list = pairIn(this.#root, LIST)
    const entry = pairIn(list?.value, name)
    if (entry !== undefined) return [this.#replaced(entry, receiver)]
    if (isMap(list?.value)) return [this.#added(list.value, name, receiver)]
    const [from = 0, to = 0] = this.#root.range ?? []
    const first = { [name]: receiver }
    const isAlone = this.#lineStart(from) === from && this.#isBlank(from + 1, to - 1)
    return isAlone && this.#root.flow === true
      ? [{ from, to, text: this.#lines(LIST, first, "") }]
      : [this.#added(this.#root, LIST, first)]
  }

  /** Removes a receiver; the last one with the list. */
  remove(name: string): ReadonlyArray<Edit> {
    const list = pairIn(this.#root, LIST)
    const entry = pairIn(list?.value, name)
    if (list === undefined || entry === undefined || !isMap(list.value)) return []
    if (list.value.items.length > 1) return this.#cut(list.value, entry, "")
    const kept = this.#commentsBeside(entry, list).map((comment) => `${comment}${this.#eol}`)
    return this.#cut(this.#root, list, kept.join(""))
  }

  #lineStart(at: number): number {
    return this.#text.lastIndexOf("\n", at - 1) + 1
  }

  /** Behind the line that has the last character before a place. */
  #lineEnd(end: number): number {
    const at = this.#text.indexOf("\n", end - 1)
    return at === -1 ? this.#text.length : at + 1
  }

  #isBlank(from: number, to: number): boolean {
    return this.#text.slice(from, to).trim() === ""
  }

  /** The space before a key that is the first on its line. */
  #indentOf(pair: Pair): string | undefined {
    const [from, to] = [this.#lineStart(startOf(pair)), startOf(pair)]
    return this.#isBlank(from, to) ? this.#text.slice(from, to) : undefined
  }

  /** The lines of an entry: of the list, one for each receiver below its key. */
  #lines(name: string, value: unknown, indent: string): string {
    if (name !== LIST || indent !== "") return `${indent}${onLine(name)}: ${onLine(value)}`
    const entries = Object.entries(Object(value)).map(([each, one]) => this.#lines(each, one, "  "))
    return [`${LIST}:`, ...entries].join(this.#eol)
  }

  #replaced({ srcToken, value }: Pair, receiver: unknown): Edit {
    const from = (isMap(value) && value.range?.[0]) || 0
    const to = from + this.#text.slice(from, endOf(value)).trimEnd().length
    const text = this.#print(receiver)
    const behind = (tokensIn(srcToken?.sep, "map-value-ind")[0]?.offset ?? from) + 1
    // A comment behind the key keeps the value on a line below it.
    const isMoved = this.#lineEnd(behind) <= from && this.#isBlank(behind, from)
    return isMoved ? { from: behind, to, text: ` ${text}` } : { from, to, text }
  }

  #added(map: YAMLMap, name: string, value: unknown): Edit {
    const entry = `${this.#print(name)}: ${this.#print(value)}`
    const last = map.items.at(-1)
    if (last === undefined) {
      const inside = (map.range?.[0] ?? 0) + 1
      return { from: inside, to: inside, text: ` ${entry} ` }
    }
    const indent = this.#indentOf(last)
    if (map.flow === true) {
      const from = endOf(last.value)
      return { from, to: from, text: indent === undefined ? `, ${entry}` : `,${this.#eol}${indent}${entry}` }
    }
    const from = this.#lineEnd(endOf(map))
    const lines = this.#lines(name, value, indent ?? "")
    const isEnded = this.#text.endsWith("\n", from)
    return { from, to: from, text: isEnded ? `${lines}${this.#eol}` : `${this.#eol}${lines}` }
  }

  /** The comments in the list that are not inside its only entry. */
  #commentsBeside(entry: Pair, { srcToken, value }: Pair): ReadonlyArray<string> {
    const isBraced = isMap(value) && value.flow === true
    const end = isBraced ? endOf(entry.value) : this.#lineEnd(endOf(entry.value))
    return tokensIn([srcToken?.sep, srcToken?.value], "comment")
      .filter(({ offset }) => offset < startOf(entry) || offset >= end)
      .filter(({ offset }) => offset < this.#lineEnd(endOf(value)))
      .map(({ source }) => source)
  }

  /** Removes an entry of a map, and leaves the comments in its place. */
  #cut(map: YAMLMap, pair: Pair, comments: string): ReadonlyArray<Edit> {
    const [from, to] = [startOf(pair), endOf(pair.value)]
    if (map.flow === true) return this.#cutFromBraces(map, pair, comments)
    if (map.items.length === 1)
      return [{ from, to: this.#lineEnd(to), text: `${comments}${NO_RULES}${this.#eol}` }]
    return [{ from: from - (this.#indentOf(pair)?.length ?? 0), to: this.#lineEnd(to), text: comments }]
  }

  /** With the comma behind the entry, or else the one before it. */
  #cutFromBraces({ srcToken }: YAMLMap, pair: Pair, comments: string): ReadonlyArray<Edit> {
    const text = comments === "" ? "" : `${this.#eol}${comments}`
    const [from, to] = [startOf(pair), endOf(pair.value)]
    const items: ReadonlyArray<unknown> = srcToken !== undefined && "items" in srcToken ? srcToken.items : []
    const next = Object(items[items.indexOf(pair.srcToken) + 1])
    const [comma] = tokensIn([next.start, pair.srcToken?.start], "comma")
    if (comma === undefined) return [{ from, to, text }]
    const isBefore = comma.offset < from
    const end = comma.offset + 1
    if (!(isBefore ? this.#isBlank(end, from) : this.#isBlank(to, comma.offset)))
      return [
        { from, to, text },
        { from: comma.offset, to: end, text: "" },
      ]
    if (isBefore) return [{ from: comma.offset, to, text }]
    const space = /\s*/uy
    space.lastIndex = end
    return [{ from, to: end + (space.exec(this.#text)?.[0].length ?? 0), text }]
  }
}

const applied = (text: string, edits: ReadonlyArray<Edit>): string =>
  edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((edited, { from, text: put, to }) => `${edited.slice(0, from)}${put}${edited.slice(to)}`, text)

/** The document with a receiver changed. */
const changed = (value: unknown, { name, receiver }: ReceiverChange): unknown => {
  const { [LIST]: list, ...others } = Object(value)
  if (receiver !== undefined) return { ...others, [LIST]: { ...list, [name]: receiver } }
  const { [name]: removed, ...receivers } = { ...list }
  if (removed === undefined) return value
  return Object.keys(receivers).length === 0 ? others : { ...others, [LIST]: receivers }
}

const MARK = "\uFEFF"

/**
 * Changes one receiver of a policy in its text, and leaves all other text as it is: an entry that is replaced or
 * added stands on one line. Returns what the text must state then, unless it cannot be parsed.
 */
const editReceiver = (text: string, change: ReceiverChange) => {
  const mark = text.startsWith(MARK) ? MARK : ""
  const body = text.slice(mark.length)
  const yaml = parseDocument(body, { keepSourceTokens: true, uniqueKeys: false, prettyErrors: false })
  if (yaml.errors.length > 0 || !isMap(yaml.contents)) return { text, states: undefined }
  const before: unknown = yaml.toJS()
  const states = changed(before, change)
  if (isDeepStrictEqual(states, before)) return { text, states }
  // Places of nodes fit any node.
  const editor = new PolicyEditor(body, yaml.contents as YAMLMap)
  const { name, receiver } = change
  const edits = receiver === undefined ? editor.remove(name) : editor.put(name, receiver)
  return { text: `${mark}${applied(body, edits)}`, states }
}

const UNFIT = "cannot be changed within the text that is stored: apply the whole policy"

/** Reads a policy with one receiver changed, and has its new text. */
export const openEditedText = (
  stored: string,
  change: ReceiverChange,
  given: PolicyNotifiers,
): Result.Result<PolicyText & { readonly text: string }, ReadonlyArray<PolicyIssue>> => {
  const { states, text } = editReceiver(stored, change)
  return Result.flatMap(openPolicyText(text, given), (opened) =>
    states === undefined || isDeepStrictEqual(opened.value, states)
      ? Result.succeed({ ...opened, text })
      : Result.fail([{ path: fieldPath([LIST, change.name]), line: 1, message: UNFIT }]),
  )
}
