import { isDeepStrictEqual } from "node:util"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import type { PolicyIssue } from "@tocsin/contract/policy/Policies"
import type { PolicyNotifiers } from "@tocsin/core/heart/policy/compilePolicy"
import type { ReceiverChange } from "@tocsin/core/heart/usecases/PolicySource"
import { Result } from "effect"
import { isMap, type Pair, parseDocument, type YAMLMap } from "yaml"
import {
  applied,
  type Edit,
  endOf,
  onLine,
  pairIn,
  PolicyTextEditor,
  startOf,
  tokensIn,
  UNFIT,
} from "../../policy/PolicyTextEditor.ts"
import { openPolicyText, type PolicyText } from "../../policy/readPolicyText.ts"

const LIST = "receivers"
const NO_RULES = "{}"

class ReceiverEditor extends PolicyTextEditor {
  readonly #root: YAMLMap

  constructor(text: string, root: YAMLMap) {
    super(text, root)
    this.#root = root
  }

  put(name: string, receiver: unknown): ReadonlyArray<Edit> {
    const list = pairIn(this.#root, LIST)
    const entry = pairIn(list?.value, name)
    if (entry !== undefined) return [this.replaced(entry, receiver)]
    if (isMap(list?.value)) return [this.added(list.value, receiver, name)]
    const [from = 0, to = 0] = this.#root.range ?? []
    const first = { [name]: receiver }
    const isAlone = this.lineStart(from) === from && this.isBlank(from + 1, to - 1)
    if (isAlone && this.#root.flow === true) return [{ from, to, text: this.#lines(first) }]
    const added = this.added(this.#root, first, LIST)
    // Below its key, one line for each receiver.
    return this.#root.flow === true
      ? [added]
      : [{ ...added, text: added.text.replace(`${LIST}: ${this.print(first)}`, () => this.#lines(first)) }]
  }

  /** Removes a receiver; the last one with the list. */
  remove(name: string): ReadonlyArray<Edit> {
    const list = pairIn(this.#root, LIST)
    const entry = pairIn(list?.value, name)
    if (list === undefined || entry === undefined || !isMap(list.value)) return []
    if (list.value.items.length > 1) return this.removed(list, list.value, list.value.items.indexOf(entry))
    const kept = this.#commentsBeside(entry, list).map((comment) => `${comment}${this.eol}`)
    return this.#cut(list, kept.join(""))
  }

  #lines(receivers: object): string {
    const entries = Object.entries(receivers).map(([name, one]) => `  ${onLine(name)}: ${onLine(one)}`)
    return [`${LIST}:`, ...entries].join(this.eol)
  }

  /** The comments in the list that are not inside its only entry. */
  #commentsBeside(entry: Pair, { srcToken, value }: Pair): ReadonlyArray<string> {
    const isBraced = isMap(value) && value.flow === true
    const end = isBraced ? endOf(entry.value) : this.lineEnd(endOf(entry.value))
    return tokensIn([srcToken?.sep, srcToken?.value], "comment")
      .filter(({ offset }) => offset < startOf(entry) || offset >= end)
      .filter(({ offset }) => offset < this.lineEnd(endOf(value)))
      .map(({ source }) => source)
  }

  /** Removes the list, and leaves the comments in its place. */
  #cut(list: Pair, comments: string): ReadonlyArray<Edit> {
    const [from, to] = [startOf(list), endOf(list.value)]
    if (this.#root.flow === true)
      return this.cutFromBraces(this.#root, this.#root.items.indexOf(list), comments)
    if (this.#root.items.length === 1)
      return [{ from, to: this.lineEnd(to), text: `${comments}${NO_RULES}${this.eol}` }]
    return [{ from: from - (this.indentAt(from)?.length ?? 0), to: this.lineEnd(to), text: comments }]
  }
}

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
  const editor = new ReceiverEditor(body, yaml.contents as YAMLMap)
  const { name, receiver } = change
  const edits = receiver === undefined ? editor.remove(name) : editor.put(name, receiver)
  return { text: `${mark}${applied(body, edits)}`, states }
}

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
