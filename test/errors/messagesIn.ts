import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type ESTree, parseSync, Visitor } from "rolldown/utils"
import { type Constants, wordingsOf } from "./Wording.ts"

/** A place in the source that says something to people. */
export interface Message {
  readonly file: string
  readonly line: number
  /** The possible messages there; empty for a value that is only passed on. */
  readonly wordings: ReadonlyArray<string>
  /** The expression that gives it. */
  readonly code: string
  /** Whether only a message can be there. */
  readonly isCertain: boolean
}

/** Functions that take a message, by the position of that argument. */
const TAKES: Readonly<Record<string, number>> = {
  attention: 1,
  attentionIf: 2,
  complain: 0,
  conflict: 1,
  damaged: 0,
  failed: 1,
  failure: 0,
  inUse: 0,
  invalid: 0,
  keepRepeating: 1,
  limited: 0,
  logError: 0,
  logWarning: 0,
  notFound: 0,
  okUnless: 3,
  problem: 0,
  problemIf: 1,
  refusal: 0,
  refuse: 0,
  unready: 0,
  usageFailure: 0,
  where: 1,
  wrong: 1,
}

/** Functions that take what a value must be, by the position of that argument. */
const TAKES_EXPECTED: Readonly<Record<string, number>> = { boundedText: 1, fromOneTo: 1 }

/** Functions that take a message or a function that returns one. */
const MAY_TAKE: ReadonlySet<string> = new Set(["fail", "mapError"])

/** The beginning of a sentence that another place adds: "web-1 must be …". */
const COMPLETES = /^(must|has) /

/** Constants that hold messages, by the ends of their names. */
const NAMED = /(message|messages|advice|failures|last_error)$|^TOO_MANY_/i

const nameOf = (node: ESTree.Node): string => {
  if (node.type === "Identifier") return node.name
  return node.type === "MemberExpression" && node.property.type === "Identifier" ? node.property.name : ""
}

const parsed = (file: string) => {
  const text = readFileSync(file, "utf8")
  return { text, program: parseSync(file, text, { lang: "ts" }).program }
}

/** A constant text of another file of the same package. */
const CONSTANT = /^[A-Z_]+$/

const importedBy = ({ source, specifiers }: ESTree.ImportDeclaration, file: string): Constants => {
  const names = specifiers.map(({ local }) => local.name).filter((name) => CONSTANT.test(name))
  if (names.length === 0 || !source.value.startsWith(".")) return new Map()
  const all = constantsOf(parsed(join(dirname(file), source.value)).program)
  return new Map(names.map((name) => [name, all.get(name) ?? []]))
}

const constantsOf = (program: ESTree.Program, file?: string): Constants => {
  const constants = new Map<string, Array<ESTree.VariableDeclarator>>()
  new Visitor({
    ImportDeclaration: (node) => {
      if (file !== undefined) for (const [name, of] of importedBy(node, file)) constants.set(name, [...of])
    },
    VariableDeclarator: (node) => {
      if (node.id.type !== "Identifier") return
      constants.set(node.id.name, [...(constants.get(node.id.name) ?? []), node])
    },
  }).visit(program)
  return constants
}

/** A text that is a sentence, not a name or a template of varying parts only. */
const isSaid = (wording: string): boolean => /\w+ \w+/.test(wording)

/** As the page shows it: on one line, with the beginning that another place adds. */
const shown = (wording: string): string => {
  const line = wording.replaceAll(/\s+/g, " ").replaceAll(/…+/g, "…").trim()
  return COMPLETES.test(line) ? `… ${line}` : line
}

type Note = (node: ESTree.Node, about?: { readonly isCertain?: boolean; readonly prefix?: string }) => void

const visitorOf = (note: Note) =>
  new Visitor({
    Property: ({ key, value }) => {
      const name = nameOf(key)
      if (name === "message") note(value, { isCertain: true })
      if (name === "error" || name === "catch" || name === "issue") note(value)
      // An object is the moves of a state, not the value that a message expects.
      if (name === "expected" && value.type !== "ObjectExpression") note(value, { prefix: "must be " })
    },
    VariableDeclarator: ({ id, init }) => {
      if (init !== null && NAMED.test(nameOf(id))) note(init)
    },
    CallExpression: ({ callee, arguments: given }) => {
      const argument = given[TAKES[nameOf(callee)] ?? Number.NaN]
      if (argument !== undefined) note(argument, { isCertain: true })
      else for (const other of given) if (MAY_TAKE.has(nameOf(callee))) note(other)
      const expected = given[TAKES_EXPECTED[nameOf(callee)] ?? Number.NaN]
      if (expected !== undefined) note(expected, { prefix: "must be " })
    },
  })

/** Everything that a module says to people, place by place. */
export const messagesIn = (file: string): ReadonlyArray<Message> => {
  const { program, text } = parsed(file)
  const constants = constantsOf(program, file)
  const messages: Array<Message> = []
  visitorOf((node, { isCertain = false, prefix = "" } = {}) => {
    const code = text.slice(node.start, node.end)
    const wordings = wordingsOf(node, constants)
      .map((wording) => shown(prefix + wording))
      .filter(isSaid)
    const line = text.slice(0, node.start).split("\n").length
    messages.push({ file, line, wordings, code, isCertain })
  }).visit(program)
  return messages
}
