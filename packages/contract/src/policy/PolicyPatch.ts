import { Schema } from "effect"
import { named } from "../formats/Fields.ts"

const MOST_OPERATIONS = 50

const path = Schema.String.annotateKey({ description: "A JSON Pointer (RFC 6901), such as /routes/0/to." })
const value = Schema.Json.annotateKey({ description: "A value of a policy, as JSON." })

const withValue = <const Op extends string>(op: Op) => Schema.Struct({ op: Schema.Literal(op), path, value })

/** One change of a policy (RFC 6902), or a test of it. */
const PatchOperation = Schema.Union([
  withValue("add"),
  withValue("replace"),
  withValue("test"),
  Schema.Struct({ op: Schema.Literal("remove"), path }),
]).annotate(named("PolicyPatchOperation", "A change of a policy (RFC 6902), or a test."))
export type PatchOperation = typeof PatchOperation.Type

export const PolicyPatch = Schema.Array(PatchOperation).check(
  Schema.isMinLength(1, { expected: `a list of 1 to ${MOST_OPERATIONS} operations` }),
  Schema.isMaxLength(MOST_OPERATIONS, { expected: `a list of 1 to ${MOST_OPERATIONS} operations` }),
)
export type PolicyPatch = typeof PolicyPatch.Type
