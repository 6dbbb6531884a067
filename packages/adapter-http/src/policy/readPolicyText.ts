import { type FieldProblem, fieldPath } from "@tocsin/contract/formats/describeIssue"
import {
  lastingReceivers,
  type PolicyNotifiers,
  receiversGiven,
} from "@tocsin/core/heart/policy/compilePolicy"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { PolicyIssue } from "@tocsin/contract/policy/Policies"
import type { FollowedPolicy } from "@tocsin/core/heart/usecases/PolicySource"
import { definedTwice, followedDespite, isOfLacked, soundParts } from "@tocsin/core/heart/policy/readPolicy"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { Result } from "effect"
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml"

export const MAX_POLICY_BYTES = 1_048_576

export interface PolicyText {
  /** The document as plain data, valid or not. */
  readonly value: unknown
  /** The parts of which no problem is known. */
  readonly sound: () => PolicyDocument
  /** The policy as this version follows it where it is stored, if it can. */
  readonly followed: () => FollowedPolicy | undefined
  /** The policy; or all its problems by line, with those that the caller has found in its receivers. */
  readonly accept: (
    found: ReadonlyArray<FieldProblem>,
  ) => Result.Result<PolicyDocument, ReadonlyArray<PolicyIssue>>
}

/** Reads a policy, without the secrets that it names: see `openPolicyText`. */
export const readPolicyText = (
  text: string,
  given: PolicyNotifiers,
): Result.Result<PolicyDocument, ReadonlyArray<PolicyIssue>> =>
  Result.flatMap(openPolicyText(text, given), ({ accept }) => accept([]))

/**
 * Reads a document from YAML 1.2, of which JSON is a part. `given` are receivers that the
 * document need not define. Fails with what keeps it from being read; `accept` reports every other problem
 * by path and line.
 */
export const openPolicyText = (
  text: string,
  given: PolicyNotifiers,
): Result.Result<PolicyText, ReadonlyArray<PolicyIssue>> => {
  if (Buffer.byteLength(text) > MAX_POLICY_BYTES) return refuse("is larger than 1 MiB")
  // YAML has no such character, and PostgreSQL stores none.
  if (text.includes("\0")) return refuse("must not contain the character U+0000")
  if (hasTooManyTokens(text)) return refuse("has too many values: the limit is 200,000 YAML tokens")
  const lines = new LineCounter()
  // Duplicate keys are found below: the parser compares each key with each other.
  const yaml = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false })
  const syntax = [...syntaxIssues(yaml, lines), ...forbiddenIssues(yaml, lines)]
  if (syntax.length > 0) return Result.fail(syntax.toSorted(byLine))
  const value: unknown = yaml.toJS()
  // A file that was truncated must not end all routes; {} states a policy without any.
  if (value === null || value === undefined) return refuse("is empty: write {} for a policy without rules")
  const locate = locator(yaml, lines)
  const others = receiversGiven(Object(value), given)
  const read = readPolicy(value, others, given)
  const twice = definedTwice(value, lastingReceivers(given))
  const problems = [...(Result.isFailure(read) ? read.failure : []), ...twice]
  return Result.succeed({
    value,
    sound: () => soundParts(value, read),
    followed: () => {
      const document = Result.isSuccess(read)
        ? read.success
        : followedDespite(value, others, read.failure, readPolicy)
      const outdated = problems.filter((one) => !isOfLacked(one))
      return document && { document, outdated: outdated.map(locate).toSorted(byLine) }
    },
    accept: (found) =>
      found.length === 0 && twice.length === 0 && Result.isSuccess(read)
        ? Result.succeed(read.success)
        : Result.fail([...problems, ...found].map(locate).toSorted(byLine)),
  })
}

const byLine = (a: PolicyIssue, b: PolicyIssue): number => a.line - b.line

const refuse = (message: string) => Result.fail([{ path: "", line: 1, message }])

// The parser takes up to 10 µs for each. 2,000 routes with steps have fewer.
const MAX_TOKENS = 200_000
/** Comments and the space between tokens are cheaper. */
const MAX_GAPS = 500_000
const GAP = /^(?:\s|#|$)/u

const hasTooManyTokens = (text: string): boolean => {
  let [tokens, gaps] = [0, 0]
  for (const token of new Lexer().lex(text)) {
    if (GAP.test(token)) gaps += 1
    else tokens += 1
    if (tokens > MAX_TOKENS || gaps > MAX_GAPS) return true
  }
  return false
}

const lineOf = (lines: LineCounter, offset: number): number => Math.max(1, lines.linePos(offset).line)

/** The parser's message repeats parts of the text only up to here. */
const LONGEST_MESSAGE = 200

const syntaxIssues = (yaml: Document.Parsed, lines: LineCounter): ReadonlyArray<PolicyIssue> =>
  [...yaml.errors, ...yaml.warnings].map(({ code, message, pos: [offset] }) => ({
    path: "",
    line: lineOf(lines, offset),
    message: syntaxMessage(code, message),
  }))

const syntaxMessage = (code: string, message: string): string => {
  if (code === "MULTIPLE_DOCS") return "must be one document"
  if (code === "RESOURCE_EXHAUSTION") return "is nested too deeply"
  return `is not valid YAML: ${message.slice(0, LONGEST_MESSAGE)}`
}

/** The deepest part of a policy is a step's receiver, below six collections. */
const MAX_DEPTH = 16

/** YAML that a policy must not use, and keys that are given twice. */
const forbiddenIssues = (yaml: Document.Parsed, lines: LineCounter): ReadonlyArray<PolicyIssue> => {
  const issues: Array<PolicyIssue> = []
  const { explicit, version } = yaml.directives.yaml
  if (explicit === true && version !== "1.2") issues.push({ path: "", line: 1, message: "must be YAML 1.2" })
  const refuseAt = (node: unknown, message: string): void => {
    const offset = isNode(node) ? (node.range?.[0] ?? 0) : 0
    issues.push({ path: "", line: lineOf(lines, offset), message })
  }
  visit(yaml, (_, node, ancestors) => {
    if (isAlias(node)) refuseAt(node, "has an alias (*): write the value again")
    else if (isNode(node) && node.anchor !== undefined) refuseAt(node, "has an anchor (&): remove it")
    if (isNode(node) && node.tag !== undefined) refuseAt(node, "has a tag (!): remove it")
    if (isMap(node)) for (const issue of keyProblems(node)) refuseAt(issue.key, issue.message)
    if (ancestors.length <= 2 * MAX_DEPTH) return
    refuseAt(node, "is nested too deeply")
    return visit.SKIP
  })
  return issues
}

const keyProblems = (map: YAMLMap) => {
  const seen = new Set<unknown>()
  return map.items.flatMap(({ key }) => {
    const name = isScalar(key) ? key.value : undefined
    if (typeof name !== "string") return { key, message: "has a key that is not a text" }
    if (seen.has(name)) return { key, message: `has the key ${fieldPath([name])} twice` }
    seen.add(name)
    return []
  })
}

/** Finds where a problem's part of the document begins. */
const locator = (yaml: Document.Parsed, lines: LineCounter) => {
  // A map finds a key by a search through all of them: many problems of a large one would take minutes.
  const indexed = new Map<YAMLMap, ReadonlyMap<unknown, Pair>>()
  const pairOf = (map: YAMLMap, name: PropertyKey): Pair | undefined => {
    const pairs =
      indexed.get(map) ??
      new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[pair.key.value, pair] as const] : [])))
    indexed.set(map, pairs)
    return pairs.get(name)
  }
  return ({ message, path }: FieldProblem): PolicyIssue => {
    let node: unknown = yaml.contents
    let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0
    // A missing part is reported where the part around it begins.
    for (const segment of path) {
      const pair = isMap(node) ? pairOf(node, segment) : undefined
      const next = isSeq(node) ? node.items[Number(segment)] : pair?.value
      const place = pair === undefined ? next : pair.key
      if (isNode(place)) offset = place.range?.[0] ?? offset
      node = next
    }
    return { path: fieldPath(path), line: lineOf(lines, offset), message }
  }
}
