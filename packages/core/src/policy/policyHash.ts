import { Predicate, Record, Schema } from "effect"
import type { Hashing } from "../ports/Hashing.ts"
import { PolicyDocument } from "@tocsin/contract/PolicyDocument"

const encode = Schema.encodeSync(PolicyDocument)

/** Names a policy: the same for every way to write the same document. */
export const policyHash = (document: PolicyDocument, { sha256 }: Hashing["Service"]): string =>
  sha256(JSON.stringify(sorted(encode(document))))

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!Predicate.isObject(value)) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Record.fromEntries(entries.map(([key, part]) => [key, sorted(part)]))
}
