import { SchemaAST, type SchemaIssue } from "effect"

const MAX_SHOWN_NAME = 64
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/u
// Controls, format characters (bidirectional ones hide text), lone surrogates, line ends, quotes
// and backslashes.
const UNSHOWABLE = /[\p{C}\p{Zl}\p{Zp}"\\]/gu

const shownName = (name: string): string => {
  // A code point is at most two units: cut first, so that a name of a megabyte costs nothing.
  const characters = Array.from(name.slice(0, 2 * MAX_SHOWN_NAME + 2))
  const cut = characters.length > MAX_SHOWN_NAME
  const shown = characters.slice(0, MAX_SHOWN_NAME).join("").replace(UNSHOWABLE, "?")
  return `"${shown}${cut ? "…" : ""}"`
}

const appendSegment = (path: string, segment: PropertyKey): string => {
  if (typeof segment === "number") return `${path}[${segment}]`
  const name = String(segment)
  const isPlain = name.length <= MAX_SHOWN_NAME && PLAIN_NAME.test(name)
  if (path === "") return isPlain ? name : shownName(name)
  return isPlain ? `${path}.${name}` : `${path}[${shownName(name)}]`
}

/** A path as messages show it: `routes[0].to`. Cuts and cleans names that the sender chose. */
export const fieldPath = (path: ReadonlyArray<PropertyKey>): string => path.reduce(appendSegment, "")

const TYPES: Readonly<Record<string, string>> = {
  String: "a string",
  Number: "a number",
  Boolean: "true or false",
  Objects: "an object",
  Arrays: "an array",
}

/** Of objects that a field tells apart, as `op` does: its name and values. */
const tagOf = (types: ReadonlyArray<SchemaAST.AST>): string | undefined => {
  const tags = types.map((type) =>
    type._tag === "Objects"
      ? type.propertySignatures.find((field) => field.type._tag === "Literal")
      : undefined,
  )
  const name = tags[0]?.name
  if (name === undefined || tags.some((tag) => tag?.name !== name)) return undefined
  return `an object whose ${String(name)} is ${tags.map((tag) => tag && expectedBy(tag.type)).join(", ")}`
}

const expectedBy = (ast: SchemaAST.AST): string => {
  const annotated = SchemaAST.resolveAt<unknown>("expected")(ast)
  // A length alone does not say of which type the value must be.
  if (typeof annotated === "string")
    return annotated.replace(/^a value(?= with a length )/u, TYPES[ast._tag] ?? "$&")
  if (ast._tag === "Literal") return String(ast.literal)
  if (ast._tag === "Union") {
    const words = Array.from(new Set(ast.types.map(expectedBy)))
    return tagOf(ast.types) ?? (words.length === 1 ? words.join("") : `one of ${words.join(", ")}`)
  }
  return TYPES[ast._tag] ?? "a valid value"
}

const text = (annotation: unknown): string | undefined =>
  typeof annotation === "string" ? annotation : undefined

const mustBe = (expected: string | undefined): string | undefined =>
  expected === undefined ? undefined : `must be ${expected}`

/** The refusal of a field that this version does not know: another version may. */
export const UNKNOWN_FIELD = "is not a known field"

// The sentence without its subject; `ofCheck` is the message of the check that refused the value.
const predicate = (issue: SchemaIssue.Leaf | SchemaIssue.AnyOf, ofCheck: string | undefined): string => {
  switch (issue._tag) {
    case "MissingKey":
      return "is missing"
    case "UnexpectedKey":
      return UNKNOWN_FIELD
    case "InvalidType":
    case "AnyOf":
      // A record without any fields refuses each by its value.
      if (issue.ast._tag === "Never") return UNKNOWN_FIELD
      return `must be ${expectedBy(issue.ast)}`
    case "InvalidValue":
      return (
        text(issue.annotations?.message) ??
        mustBe(text(issue.annotations?.expected)) ??
        ofCheck ??
        "is not valid"
      )
    case "OneOf":
    case "Forbidden":
      return "is not valid"
  }
}

/** The fault of one part of an input: its path from the root, and the sentence without its subject. */
export interface FieldProblem {
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
}

/** Every problem that an issue holds, in the order in which they were found. */
export function* problemsOf(
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<PropertyKey> = [],
  ofCheck?: string,
): Generator<FieldProblem, void> {
  switch (issue._tag) {
    case "Pointer":
      return yield* problemsOf(issue.issue, [...path, ...issue.path], ofCheck)
    case "Encoding":
      return yield* problemsOf(issue.issue, path, ofCheck)
    case "Filter": {
      const annotations = issue.filter.annotations
      const said = text(annotations?.message) ?? mustBe(text(annotations?.expected))
      return yield* problemsOf(issue.issue, path, said)
    }
    case "Composite":
      for (const part of issue.issues) yield* problemsOf(part, path, ofCheck)
      return
    case "AnyOf": {
      // Only one member of the union could have been meant, by its tag.
      const [meant, ...others] = issue.issues
      if (meant !== undefined && others.length === 0) return yield* problemsOf(meant, path, ofCheck)
      return yield { path, message: predicate(issue, ofCheck) }
    }
    default:
      return yield { path, message: predicate(issue, ofCheck) }
  }
}

/**
 * The first problem of `issue` as one sentence that names its field by path, such as
 * "events[3].observed_at must be …". `whole` names the input itself. The sentence contains no value
 * of the input, so no secret; it cuts and cleans names that the sender chose
 * (docs/rules.md#bodies). A check's `message` annotation is the sentence without its subject, its
 * `expected` annotation follows "must be".
 */
export const describeIssue = (issue: SchemaIssue.Issue, whole: string): string => {
  for (const { message, path } of problemsOf(issue)) {
    return `${path.length === 0 ? whole : fieldPath(path)} ${message}`
  }
  return `${whole} is not valid`
}
