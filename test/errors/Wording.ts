import type { ESTree } from "rolldown/utils"

/** The stand-in for the parts of a message that differ from case to case. */
const VARYING = "…"

/** The constants of a module, by name: several where functions have their own of one name. */
export type Constants = ReadonlyMap<string, ReadonlyArray<ESTree.VariableDeclarator>>

/** The text of a template: itself where it is written down once, and {@link VARYING} otherwise. */
const textOf = (node: ESTree.Expression, constants: Constants): string => {
  const given = node.type === "Identifier" ? declarationOf(node, constants)?.init : node
  const isChoice = given?.type === "ConditionalExpression" || given?.type === "LogicalExpression"
  const [only, ...others] = isChoice ? [] : wordingsOf(node, constants)
  return only === undefined || others.length > 0 ? VARYING : only
}

const ofTemplate = (
  { quasis, expressions }: ESTree.TemplateLiteral,
  constants: Constants,
): ReadonlyArray<string> => [
  quasis
    .map(({ value }, index) => {
      const expression = expressions[index]
      return `${value.cooked ?? ""}${expression === undefined ? "" : textOf(expression, constants)}`
    })
    .join(""),
]

const ofSum = ({ left, right }: ESTree.BinaryExpression, constants: Constants): ReadonlyArray<string> => {
  const ends = wordingsOf(right, constants)
  return wordingsOf(left, constants).flatMap((start) => ends.map((end) => start + end))
}

interface Name {
  readonly name: string
  readonly start: number
}

/** The nearest declaration before the use: names recur in functions. */
const declarationOf = ({ name, start: use }: Name, constants: Constants) => {
  const declared = constants.get(name) ?? []
  return declared.findLast(({ start }) => start < use) ?? declared[0]
}

const ofName = (name: Name, constants: Constants) => {
  const init = declarationOf(name, constants)?.init
  return init === null || init === undefined ? [] : wordingsOf(init, constants)
}

/** All values of a table. */
const ofTable = ({ properties }: ESTree.ObjectExpression, constants: Constants): ReadonlyArray<string> =>
  properties.flatMap((property) =>
    property.type === "Property" ? wordingsOf(property.value, constants) : [],
  )

/** The value of a pair of key and message. */
const ofRow = (row: ESTree.ArrayExpressionElement, constants: Constants): ReadonlyArray<string> => {
  const [, said] = row?.type === "ArrayExpression" ? row.elements : [undefined, row]
  return said === null || said === undefined ? [] : wordingsOf(said, constants)
}

/**
 * Every text that an expression can have in the source; none for a value that is only passed on.
 * Parts that vary are {@link VARYING}.
 */
export const wordingsOf = (node: ESTree.Node, constants: Constants): ReadonlyArray<string> => {
  switch (node.type) {
    case "Literal":
      return typeof node.value === "string" || typeof node.value === "number" ? [String(node.value)] : []
    case "TemplateLiteral":
      return ofTemplate(node, constants)
    case "BinaryExpression":
      return node.operator === "+" ? ofSum(node, constants) : []
    case "ConditionalExpression":
      return [...wordingsOf(node.consequent, constants), ...wordingsOf(node.alternate, constants)]
    case "LogicalExpression":
      return [...wordingsOf(node.left, constants), ...wordingsOf(node.right, constants)]
    case "ParenthesizedExpression":
    case "TSAsExpression":
    case "TSSatisfiesExpression":
      return wordingsOf(node.expression, constants)
    case "ArrowFunctionExpression":
      return node.expression ? wordingsOf(node.body, constants) : []
    case "Identifier":
      return ofName(node, constants)
    case "ObjectExpression":
      return ofTable(node, constants)
    case "ArrayExpression":
      return node.elements.flatMap((element) => (element === null ? [] : ofRow(element, constants)))
    case "NewExpression":
      return node.callee.type === "Identifier" && node.callee.name === "Map"
        ? node.arguments.flatMap((argument) => wordingsOf(argument, constants))
        : []
    case "MemberExpression":
      // One of a table, whichever: ADVICE[reason].
      return node.computed ? wordingsOf(node.object, constants) : []
    case "CallExpression":
      return node.callee.type === "MemberExpression" && node.callee.computed
        ? wordingsOf(node.callee, constants)
        : []
    default:
      return []
  }
}
