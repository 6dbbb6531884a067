import { isDeepStrictEqual } from "node:util"
import type { PatchOperation, PolicyPatch } from "@tocsin/contract/policy/PolicyPatch"
import type { PatchRefusal } from "@tocsin/core/heart/usecases/PolicySource"
import { Predicate, Result } from "effect"
import { type Document, isMap, isSeq, parseDocument } from "yaml"
import { applied, type Edit, pairIn, PolicyTextEditor, UNFIT } from "./PolicyTextEditor.ts"

const MARK = "\uFEFF"

type Path = ReadonlyArray<string>

const refuse = (message: string): Result.Result<never, PatchRefusal> =>
  Result.fail({ isConflict: false, message })

/** The names of a JSON Pointer; absent if it is none. */
const pathOf = (pointer: string): Path | undefined =>
  pointer === "" || /^(?:\/(?:[^~/]|~[01])*)+$/u.test(pointer)
    ? pointer
        .split("/")
        .slice(1)
        .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
    : undefined

const INDEX = /^(?:0|[1-9]\d*)$/

const indexIn = (list: ReadonlyArray<unknown>, name: string): number | undefined =>
  INDEX.test(name) && Number(name) < list.length ? Number(name) : undefined

/** The own value of a name, in a box; absent where there is none. */
const memberOf = (value: unknown, name: string): { readonly value: unknown } | undefined => {
  if (Array.isArray(value)) {
    const index = indexIn(value, name)
    return index === undefined ? undefined : { value: value[index] }
  }
  return Predicate.isObject(value) && Object.hasOwn(value, name)
    ? { value: Object.getOwnPropertyDescriptor(value, name)?.value }
    : undefined
}

/** Where an operation takes effect: an entry, or the place of a new one. */
interface Target {
  readonly path: Path
  /** The present value, in a box; absent for a new entry. */
  readonly present: { readonly value: unknown } | undefined
}

const targetOf = (
  document: unknown,
  { op, path: pointer }: PatchOperation,
): Result.Result<Target, PatchRefusal> => {
  const path = pathOf(pointer)
  if (path === undefined) return refuse(`${pointer} must be a JSON Pointer (RFC 6901), such as /routes/0/to`)
  const nothing = refuse(`${pointer} leads to nothing: name what the policy has`)
  let value: { readonly value: unknown } | undefined = { value: document }
  for (const name of path.slice(0, -1)) {
    value = memberOf(value.value, name)
    if (value === undefined) return nothing
  }
  const name = path.at(-1)
  if (name === undefined) return Result.succeed({ path, present: value })
  const [around, present] = [value.value, memberOf(value.value, name)]
  if (present !== undefined && !(op === "add" && Array.isArray(around)))
    return Result.succeed({ path, present })
  if (op !== "add" || name === "__proto__" || typeof around !== "object" || around === null) return nothing
  if (!Array.isArray(around)) return Result.succeed({ path, present: undefined })
  const index = name === "-" ? around.length : indexIn([...around, undefined], name)
  return index === undefined
    ? nothing
    : Result.succeed({ path: [...path.slice(0, -1), String(index)], present: undefined })
}

/** The document with the entry at a path changed; `change` gets the list or object around it. */
const changedAt = (
  document: unknown,
  path: Path,
  change: (around: unknown, name: string) => unknown,
): unknown => {
  const [name = "", ...rest] = path
  if (rest.length === 0) return change(document, name)
  const inside = changedAt(memberOf(document, name)?.value, rest, change)
  return Array.isArray(document)
    ? document.with(Number(name), inside)
    : { ...Object(document), [name]: inside }
}

const edited = (document: unknown, { path, present }: Target, operation: PatchOperation): unknown => {
  if (operation.op === "test") return document
  if (path.length === 0) return operation.op === "remove" ? {} : operation.value
  return changedAt(document, path, (around, name) => {
    if (operation.op === "remove") {
      if (Array.isArray(around)) return around.toSpliced(Number(name), 1)
      const { [name]: _, ...others } = Object(around)
      return others
    }
    if (Array.isArray(around))
      return around.toSpliced(Number(name), present === undefined ? 0 : 1, operation.value)
    return { ...Object(around), [name]: operation.value }
  })
}

/** The nodes that lead to an entry: each with the pair or item that has it. */
const nodesTo = (yaml: Document.Parsed, path: Path) =>
  path.reduce<ReadonlyArray<{ readonly entry: unknown; readonly node: unknown }>>(
    (found, name) => {
      const node = found.at(-1)?.node
      const entry = isSeq(node) ? node.items[Number(name)] : pairIn(node, name)
      return [...found, { entry, node: isMap(node) ? pairIn(node, name)?.value : entry }]
    },
    [{ entry: yaml.contents, node: yaml.contents }],
  )

const editsOf = (
  text: string,
  yaml: Document.Parsed,
  { path, present }: Target,
  operation: PatchOperation,
): ReadonlyArray<Edit> => {
  const editor = new PolicyTextEditor(text, yaml.contents)
  const nodes = nodesTo(yaml, path)
  const [around, { entry } = { entry: undefined }] = [nodes.at(-2), nodes.at(-1)]
  const list = around?.node
  const name = path.at(-1) ?? ""
  if (operation.op === "test") return []
  if (operation.op !== "remove" && (present !== undefined || path.length === 0))
    return [editor.replaced(entry, operation.value)]
  if (!(isMap(list) || isSeq(list))) return operation.op === "remove" ? [editor.replaced(entry, {})] : []
  const place = isMap(list) ? list.items.findIndex((each) => each === entry) : Number(name)
  if (operation.op === "remove") return editor.removed(around?.entry, list, place)
  return [editor.added(list, operation.value, isMap(list) ? name : place)]
}

/** An empty text gets its first lines. */
const firstLine = (operation: PatchOperation, path: Path, eol: string): string => {
  const editor = new PolicyTextEditor("", undefined)
  const value = "value" in operation ? operation.value : {}
  return `${path.length === 0 ? editor.print(value) : `${editor.print(path[0])}: ${editor.print(value)}`}${eol}`
}

const parse = (text: string) => {
  const yaml = parseDocument(text, { keepSourceTokens: true, uniqueKeys: false, prettyErrors: false })
  // An alias whose anchor is missing shows here alone.
  const read = Result.try((): unknown => yaml.toJS())
  const value = Result.getOrUndefined(read)
  const isBroken = yaml.errors.length > 0 || Result.isFailure(read)
  return { yaml, value: value ?? {}, isBroken, isEmpty: yaml.contents === null || value === null }
}

/** Makes one change in a text, of which all else stays. */
const patched = (text: string, operation: PatchOperation): Result.Result<string, PatchRefusal> => {
  const { isBroken, isEmpty, value, yaml } = parse(text)
  if (isBroken) return refuse(`the stored policy ${UNFIT}`)
  return Result.flatMap(targetOf(value, operation), (target) => {
    const { path, present } = target
    if (operation.op === "test" && !isDeepStrictEqual(present?.value, operation.value))
      return Result.fail({
        isConflict: true,
        message: `the test of ${operation.path || "the whole policy"} fails, because the policy has another value: make the edit from the present policy`,
      })
    const states = edited(value, target, operation)
    if (isDeepStrictEqual(states, value)) return Result.succeed(text)
    const after = isEmpty
      ? text + firstLine(operation, path, "\n")
      : applied(text, editsOf(text, yaml, target, operation))
    const made = parse(after)
    return !made.isBroken && isDeepStrictEqual(made.value, states)
      ? Result.succeed(after)
      : refuse(`${operation.path} ${UNFIT}`)
  })
}

/**
 * Makes changes in the text of a policy one after the other, together or none (docs/rules.md#a-stored-policy). Nothing but the text
 * of their values changes. An empty text is a policy without rules.
 */
export const patchPolicyText = (text: string, patch: PolicyPatch): Result.Result<string, PatchRefusal> => {
  const mark = text.startsWith(MARK) ? MARK : ""
  return patch
    .reduce<Result.Result<string, PatchRefusal>>(
      (made, operation) => Result.flatMap(made, (body) => patched(body, operation)),
      Result.succeed(text.slice(mark.length)),
    )
    .pipe(Result.map((body) => `${mark}${body}`))
}
