import { Schema, SchemaAST } from "effect"
import { needsMailServer } from "../receivers/mailServer.ts"
import { PolicyWatch } from "../watches/Watches.ts"
import { PolicyDocument } from "./PolicyDocument.ts"

const ALL = Symbol("every value")

const partOf = (value: unknown, key: PropertyKey): unknown =>
  value === ALL
    ? ALL
    : typeof value === "object" && value !== null && Object.hasOwn(value, key)
      ? Reflect.get(value, key)
      : undefined

const partsOf = (value: unknown): ReadonlyArray<unknown> =>
  value === ALL ? [ALL] : typeof value === "object" && value !== null ? Object.values(value) : []

/** The keys at which a value has something, and the words of a closed list that it has, by paths without names of people. */
const namesIn = (ast: SchemaAST.AST, path: string, value: unknown): ReadonlyArray<string> => {
  if (value === undefined) return []
  if (SchemaAST.isUnion(ast)) return ast.types.flatMap((type) => namesIn(type, path, value))
  if (SchemaAST.isLiteral(ast))
    return value === ALL || value === ast.literal ? [`${path}=${String(ast.literal)}`] : []
  if (SchemaAST.isArrays(ast))
    return Array.isArray(value) || value === ALL
      ? partsOf(value).flatMap((part) => ast.rest.flatMap((type) => namesIn(type, path, part)))
      : []
  if (!SchemaAST.isObjects(ast)) return []
  return [
    ...ast.propertySignatures.flatMap(({ name, type }) => {
      const part = partOf(value, name)
      const at = path === "" ? String(name) : `${path}.${String(name)}`
      return part === undefined ? [] : [at, ...namesIn(type, at, part)]
    }),
    ...ast.indexSignatures.flatMap(({ type }) => partsOf(value).flatMap((part) => namesIn(type, path, part))),
  ]
}

const policyForm = Schema.toEncoded(PolicyDocument).ast
const watchForm = Schema.toEncoded(PolicyWatch).ast

/** Names the keys and the words that a policy uses; the mail server of the settings as that of the policy. */
export const policyNames = (document: PolicyDocument): ReadonlyArray<string> => {
  const isShared = Object.values(document.receivers ?? {}).some(needsMailServer)
  return Array.from(new Set([...namesIn(policyForm, "", document), ...(isShared ? ["mail"] : [])]))
}

/** Names what a watch of a request uses, as of one in a policy. */
export const watchNames = (watch: object): ReadonlyArray<string> => namesIn(watchForm, "watches", watch)

/** All that policies and watches may use here. */
export const policyNamesKnown: ReadonlyArray<string> = Array.from(new Set(namesIn(policyForm, "", ALL)))
