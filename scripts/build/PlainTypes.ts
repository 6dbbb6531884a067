import { writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  isInterfaceDeclaration,
  isTypeAliasDeclaration,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast"
import {
  API,
  type Checker,
  NodeBuilderFlags,
  ObjectFlags,
  type Project,
  SignatureKind,
  type Symbol as Named,
  SymbolFlags,
  type Type,
} from "typescript/unstable/sync"
import { copied, OurDeclarations, startOf } from "./OurDeclarations.ts"

/** Another declaration, as the compiler prints it. */
const PRINTED = /import\("(\.[^"]+)"\)\.(\w+)/g
const OF_EFFECT = /import\("@?effect/
const FLAGS =
  NodeBuilderFlags.NoTruncation | NodeBuilderFlags.UseFullyQualifiedType | NodeBuilderFlags.InTypeAlias

/** The text of a written declaration file, and of the entry that exports from it. */
interface Written {
  readonly declarations: string
  readonly entry: string
}

/**
 * Declarations that need no Effect: those of an entry and all that they name. Plain ones are copied; those that derive
 * from schemas get the structure that the compiler finds.
 */
export class PlainTypes {
  readonly #folder: string
  readonly #api: API
  readonly #project: Project
  readonly #checker: Checker
  readonly #probe: SourceFile
  readonly #ours: OurDeclarations
  readonly #plain = new Map<number, boolean>()
  readonly #expandable = new Map<number, boolean>()
  /** The name and the file of each declaration that is written. */
  readonly #places = new Map<number, { readonly name: string; readonly file: string }>()

  /** Reads the declarations in a folder, which finds the packages that they import. */
  constructor(folder: string, entries: ReadonlyArray<string>) {
    this.#folder = folder
    const config = join(folder, "tsconfig.json")
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
    // The compiler prints types as a module without imports sees them.
    writeFileSync(join(folder, "probe.d.ts"), "export {}\n")
    const compilerOptions = {
      target: "ES2023",
      lib: ["ES2023", "ESNext.Disposable"],
      types: ["node"],
      module: "NodeNext",
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      noEmit: true,
    }
    writeFileSync(config, JSON.stringify({ compilerOptions, files: ["probe.d.ts", ...entries] }))
    this.#api = new API({ cwd: folder })
    const project = this.#api.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (project === undefined) throw new Error(`the compiler did not read ${config}`)
    this.#project = project
    this.#checker = project.checker
    this.#ours = new OurDeclarations(folder, project)
    this.#probe = this.#fileAt("probe.d.ts")
  }

  [Symbol.dispose](): void {
    this.#api.close()
  }

  /** Writes an entry and the declarations that no earlier one has; these are for `types/${file}.d.ts` beside it. */
  write(entry: string, file: string): Written {
    const exported = this.#exportsOf(entry)
    const names = new Names()
    const queue: Array<Named> = []
    const nameOf = (symbol: Named, wanted = symbol.name): string => {
      const name = names.of(symbol.id, this.#places.get(symbol.id)?.name ?? wanted)
      if (!this.#places.has(symbol.id)) {
        this.#places.set(symbol.id, { name, file })
        queue.push(symbol)
      }
      return name
    }
    for (const [wanted, symbol] of exported) if (!this.#places.has(symbol.id)) nameOf(symbol, wanted)
    const texts: Array<string> = []
    for (let symbol = queue.shift(); symbol !== undefined; symbol = queue.shift())
      texts.push(this.#textOf(symbol, nameOf))
    const imports = Array.from(names.all).flatMap(([id, local]) => {
      const place = this.#places.get(id)
      if (place === undefined || place.file === file) return []
      return `import type { ${renamed(place.name, local)} } from "./${place.file}.js"\n`
    })
    const exports = exported.flatMap(([name, { id }]) => {
      const place = this.#places.get(id)
      return place === undefined
        ? []
        : `export { ${renamed(place.name, name)} } from "./types/${place.file}.js"\n`
    })
    return { declarations: [imports.join(""), ...texts].join("\n"), entry: exports.join("") }
  }

  #fileAt(path: string): SourceFile {
    const file = this.#project.program.getSourceFile(join(this.#folder, path))
    if (file === undefined) throw new Error(`the compiler did not read ${path}`)
    return file
  }

  #exportsOf(path: string): ReadonlyArray<readonly [name: string, symbol: Named]> {
    const module = this.#checker.getSymbolAtLocation(this.#fileAt(path))
    if (module === undefined) throw new Error(`${path} is no module`)
    return this.#checker
      .getExportsOfModule(module)
      .map((symbol) => [symbol.name, this.#ours.resolved(symbol)])
  }

  /** Whether a declaration can be copied: it and what it names need no Effect. */
  #isPlain(symbol: Named): boolean {
    const known = this.#plain.get(symbol.id)
    if (known !== undefined) return known
    // Until it is known, so that declarations may name each other.
    this.#plain.set(symbol.id, true)
    const declared = this.#ours.of(symbol)
    const isPlain =
      declared !== undefined &&
      !declared.needsEffect &&
      declared.references.every(
        (reference) =>
          this.#isPlain(reference.symbol) || (!reference.isQuery && this.#canBeExpanded(reference.symbol)),
      )
    this.#plain.set(symbol.id, isPlain)
    return isPlain
  }

  /** Whether a declaration is a type without parameters whose structure needs no Effect. */
  #canBeExpanded(symbol: Named): boolean {
    const known = this.#expandable.get(symbol.id)
    if (known !== undefined) return known
    const node = this.#ours.of(symbol)?.node
    const isType =
      node !== undefined &&
      (isTypeAliasDeclaration(node) || isInterfaceDeclaration(node)) &&
      node.typeParameters === undefined
    const canBe = isType && this.#structures(symbol, node).every((type) => !OF_EFFECT.test(this.#shown(type)))
    this.#expandable.set(symbol.id, canBe)
    return canBe
  }

  /** The types that the structure of a declaration consists of. */
  #structures(symbol: Named, node: Node): ReadonlyArray<Type> {
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol)
    if (!isInterfaceDeclaration(node)) return [type]
    return [
      ...this.#checker
        .getPropertiesOfType(type)
        .flatMap((property) => this.#checker.getTypeOfSymbol(property) ?? []),
      ...this.#checker.getIndexInfosOfType(type).map(({ valueType }) => valueType),
    ]
  }

  #shown(type: Type): string {
    return this.#checker.typeToString(type, this.#probe, FLAGS)
  }

  #textOf(symbol: Named, nameOf: (symbol: Named) => string): string {
    const declared = this.#ours.of(symbol)
    if (declared === undefined) throw new Error(`${symbol.name} is declared by no module of ours`)
    if (this.#isPlain(symbol)) return copied(declared, nameOf)
    if (!this.#canBeExpanded(symbol))
      throw new Error(`${symbol.name} of ${declared.file.fileName} needs the types of Effect`)
    const comment = /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.exec(
      declared.file.text.slice(declared.statement.pos, startOf(declared.statement)),
    )
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol)
    const head = `${comment === null ? "" : `${comment[0].trim()}\n`}export`
    const name = nameOf(symbol)
    return isInterfaceDeclaration(declared.node)
      ? `${head} interface ${name} ${this.#membersOf(type, "", nameOf)}\n`
      : `${head} type ${name} = ${this.#print(type, nameOf)}\n`
  }

  #membersOf(type: Type, indent: string, nameOf: (symbol: Named) => string): string {
    const inner = `${indent}    `
    const members = this.#checker.getPropertiesOfType(type).map((property) => {
      const text = this.#checker.getDocumentationCommentOfSymbol(property)
      const comment = text === "" ? "" : `${inner}/** ${text.replaceAll("\n", `\n${inner} * `)} */\n`
      const isOptional = (property.flags & SymbolFlags.Optional) !== 0
      const found = this.#checker.getTypeOfSymbol(property)
      if (found === undefined) throw new Error(`${property.name} has no type`)
      const isObject =
        found.isObjectType() &&
        (found.objectFlags & (ObjectFlags.Mapped | ObjectFlags.Anonymous)) !== 0 &&
        this.#checker.getSignaturesOfType(found, SignatureKind.Call).length === 0 &&
        this.#checker.getIndexInfosOfType(found).length === 0
      const printed = isObject ? this.#membersOf(found, inner, nameOf) : this.#print(found, nameOf)
      const key = /^\w+$/.test(property.name) ? property.name : JSON.stringify(property.name)
      // The compiler shows that an optional property may be missing as `undefined`, which is another type here.
      const takesUndefined = found.isUnionType() && found.getTypes()?.some(({ id }) => id === this.#undefined)
      const value = isOptional && !takesUndefined ? printed.replace(/ \| undefined$/, "") : printed
      return `${comment}${inner}readonly ${key}${isOptional ? "?" : ""}: ${value};\n`
    })
    const indexes = this.#checker.getIndexInfosOfType(type).map(({ keyType, valueType }) => {
      const [key, value] = [this.#print(keyType, nameOf), this.#print(valueType, nameOf)]
      return `${inner}readonly [key: ${key}]: ${value};\n`
    })
    return `{\n${[...members, ...indexes].join("")}${indent}}`
  }

  get #undefined(): number {
    return this.#checker.getUndefinedType().id
  }

  #print(type: Type, nameOf: (symbol: Named) => string): string {
    return this.#shown(type).replaceAll(PRINTED, (_, module: string, name: string) => {
      const found = this.#exportsOf(module.replace(/\.js$/, ".d.ts")).find(([exported]) => exported === name)
      if (found === undefined) throw new Error(`${module} exports no ${name}`)
      return nameOf(found[1])
    })
  }
}

const renamed = (name: string, local: string): string => (name === local ? name : `${name} as ${local}`)

/** The names in one file, of its declarations and of those that it imports. */
class Names {
  readonly all = new Map<number, string>()

  /** The name of a symbol: the wanted one unless another symbol has it. */
  of(id: number, wanted: string): string {
    const known = this.all.get(id)
    if (known !== undefined) return known
    const taken = new Set(this.all.values())
    const name = [wanted, `${wanted}2`, `${wanted}3`].find((one) => !taken.has(one))
    if (name === undefined) throw new Error(`too many declarations are called ${wanted}`)
    this.all.set(id, name)
    return name
  }
}
