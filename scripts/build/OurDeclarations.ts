import {
  isIdentifier,
  isImportDeclaration,
  isImportSpecifier,
  isImportTypeNode,
  isInterfaceDeclaration,
  isQualifiedName,
  isSourceFile,
  isTypeAliasDeclaration,
  isTypeQueryNode,
  isVariableDeclaration,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast"
import { type Checker, type Project, type Symbol as Named, SymbolFlags } from "typescript/unstable/sync"

/** A name in a declaration that stands for another declaration. */
interface Reference {
  readonly start: number
  readonly end: number
  readonly symbol: Named
  /** After `typeof`: the type of a value is meant. */
  readonly isQuery: boolean
}

/** A declaration at the top of one of our modules. */
export interface Declared {
  readonly node: Node
  readonly statement: Node
  readonly file: SourceFile
  readonly references: ReadonlyArray<Reference>
  /** The names that stand for declarations of Node.js, and how to import them. */
  readonly ambient: ReadonlyArray<{ readonly start: number; readonly end: number; readonly text: string }>
  readonly needsEffect: boolean
}

const EFFECT = /\/node_modules\/@?effect\//

/** The declarations of our modules, each with the names in it. */
export class OurDeclarations {
  readonly #folder: string
  readonly #project: Project
  readonly #checker: Checker
  readonly #declared = new Map<number, Declared | undefined>()

  /** Those below a folder. */
  constructor(folder: string, project: Project) {
    this.#folder = folder
    this.#project = project
    this.#checker = project.checker
  }

  /** The symbol that an imported name stands for. */
  resolved(symbol: Named): Named {
    return symbol.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
  }

  /** The declaration of a symbol at the top of one of our modules; `undefined` for any other symbol. */
  of(symbol: Named): Declared | undefined {
    if (this.#declared.has(symbol.id)) return this.#declared.get(symbol.id)
    this.#declared.set(symbol.id, undefined)
    const nodes = symbol.declarations
      .filter(({ path }) => path.startsWith(this.#folder))
      .flatMap((handle) => handle.resolve(this.#project) ?? [])
    const node = nodes.find((one) => isTypeAliasDeclaration(one) || isInterfaceDeclaration(one)) ?? nodes[0]
    if (node === undefined || isSourceFile(node)) return undefined
    const statement = isVariableDeclaration(node) ? node.parent.parent : node
    if (!isSourceFile(statement.parent)) return undefined
    const made = { node, statement, file: statement.parent, ...this.#namesIn(statement) }
    this.#declared.set(symbol.id, made)
    return made
  }

  #namesIn(statement: Node): Pick<Declared, "references" | "ambient" | "needsEffect"> {
    const names: Array<{ readonly at: Node; readonly whole: Node; readonly isQuery: boolean }> = []
    const visit = (node: Node, isQuery: boolean): void => {
      if (isImportTypeNode(node) && node.qualifier !== undefined) {
        const last = isQualifiedName(node.qualifier) ? node.qualifier.right : node.qualifier
        names.push({ at: last, whole: node, isQuery: isQuery || node.isTypeOf === true })
        for (const argument of node.typeArguments ?? []) visit(argument, false)
      } else if (isQualifiedName(node)) names.push({ at: node.right, whole: node, isQuery })
      else if (isIdentifier(node)) names.push({ at: node, whole: node, isQuery })
      else node.forEachChild((child) => visit(child, isTypeQueryNode(node)))
    }
    visit(statement, false)
    const symbols = this.#checker.getSymbolAtLocation(names.map(({ at }) => at))
    const references: Array<Reference> = []
    const ambient: Array<Declared["ambient"][number]> = []
    let needsEffect = false
    for (const [index, { at, whole, isQuery }] of names.entries()) {
      const named = symbols[index]
      if (named === undefined) continue
      const symbol = this.resolved(named)
      const [first] = symbol.declarations
      if (first === undefined) continue
      const place = { start: startOf(whole), end: at.end }
      if (EFFECT.test(first.path)) needsEffect = true
      else if (first.path.startsWith(this.#folder)) {
        if (this.#isTop(symbol)) references.push({ ...place, symbol, isQuery })
      } else if (named !== symbol) ambient.push({ ...place, text: this.#importOf(named) })
    }
    return { references, ambient, needsEffect }
  }

  #isTop(symbol: Named): boolean {
    const [node] = symbol.declarations.flatMap((handle) => handle.resolve(this.#project) ?? [])
    if (node === undefined || isSourceFile(node)) return false
    return isSourceFile((isVariableDeclaration(node) ? node.parent.parent : node).parent)
  }

  /** An imported name of another package, as a type that imports it. */
  #importOf(alias: Named): string {
    const node = alias.declarations[0]?.resolve(this.#project)
    for (let at = node; at !== undefined; at = at.parent)
      if (isImportDeclaration(at)) {
        const name =
          node !== undefined && isImportSpecifier(node) ? (node.propertyName ?? node.name) : undefined
        if (name !== undefined) return `import(${at.moduleSpecifier.getText()}).${name.getText()}`
      }
    throw new Error(`the import of ${alias.name} cannot be written`)
  }
}

/** Where a node begins after its comments. */
export const startOf = (node: Node): number => node.end - node.getText().length

/** A statement with other names for what it refers to. */
export const copied = (
  { ambient, file, references, statement }: Declared,
  nameOf: (symbol: Named) => string,
): string => {
  const places = [
    ...references.map(({ end, start, symbol }) => ({ start, end, text: nameOf(symbol) })),
    ...ambient,
  ].sort((a, b) => a.start - b.start)
  let text = ""
  let at = statement.pos
  for (const { end, start, text: name } of places) {
    if (start < at) continue
    text += file.text.slice(at, start) + name
    at = end
  }
  text += file.text.slice(at, statement.end)
  const [, comments = "", code = ""] = /^((?:\s|\/\*(?:(?!\*\/)[^])*\*\/|\/\/.*\n)*)([^]*)$/.exec(text) ?? []
  const bare = code.replace(/^export /, "")
  return `${comments.trimStart()}export ${bare}\n`
}
