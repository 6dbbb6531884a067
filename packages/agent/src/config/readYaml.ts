import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
} from "yaml"
import type { Path, Problem } from "./Reader.ts"

const MAX_BYTES = 1_048_576
const MAX_DEPTH = 12
const LONGEST_MESSAGE = 200

/** A document that was read, and where its parts are. */
export interface YamlText {
  readonly value: unknown
  readonly problems: ReadonlyArray<Problem>
  readonly locate: (path: Path, message: string) => Problem
}

/** A path as people write it: `checks.disk.command[1]`. */
const pathText = (path: Path): string =>
  path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join("")

/** Reads YAML 1.2. Refuses keys that are given twice, aliases, and what a reader could misjudge. */
export const readYaml = (file: string, text: string): YamlText => {
  const lines = new LineCounter()
  const problem = (offset: number, message: string, path: Path = []): Problem => ({
    file,
    line: Math.max(1, lines.linePos(offset).line),
    path: pathText(path),
    message,
  })
  if (Buffer.byteLength(text) > MAX_BYTES) {
    const issue: Problem = { file, line: 1, path: "", message: "is larger than 1 MiB" }
    return { value: undefined, problems: [issue], locate: () => issue }
  }
  const yaml = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false })
  const problems = [...yaml.errors, ...yaml.warnings].map(({ code, message, pos: [offset] }) => {
    const invalid = `is not valid YAML: ${message.slice(0, LONGEST_MESSAGE)}`
    return problem(offset, code === "MULTIPLE_DOCS" ? "must be one document" : invalid)
  })
  refuseForbidden(yaml, (offset, message) => problems.push(problem(offset, message)))
  const locate = (path: Path, message: string) => problem(offsetOf(yaml, path), message, path)
  return { value: problems.length > 0 ? undefined : (yaml.toJS() ?? {}), problems, locate }
}

const startOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined)

const refuseForbidden = (
  yaml: Document.Parsed,
  complain: (offset: number, message: string) => void,
): void => {
  const refuse = (node: unknown, message: string) => complain(startOf(node) ?? 0, message)
  visit(yaml, (_, node, ancestors) => {
    if (isAlias(node)) refuse(node, "has an alias (*): write the value again")
    else if (isNode(node) && node.anchor !== undefined) refuse(node, "has an anchor (&): remove it")
    if (isMap(node)) {
      const seen = new Set<unknown>()
      for (const { key } of node.items) {
        const name = isScalar(key) ? key.value : undefined
        if (typeof name !== "string") refuse(key, "has a key that is not a text: put it in quotes")
        else if (seen.has(name)) refuse(key, `has the key ${name} twice`)
        seen.add(name)
      }
    }
    if (ancestors.length <= 2 * MAX_DEPTH) return
    refuse(node, "is nested too deeply")
    return visit.SKIP
  })
}

/** A missing part is reported where the part around it begins. */
const offsetOf = (yaml: Document.Parsed, path: Path): number => {
  let node: unknown = yaml.contents
  let offset = startOf(node) ?? 0
  for (const step of path) {
    if (!isCollection(node)) return offset
    const pair = isMap(node) ? node.items.find(({ key }) => isScalar(key) && key.value === step) : undefined
    const next: unknown = node.get(step, true)
    offset = startOf(pair?.key ?? next) ?? offset
    node = next
  }
  return offset
}
