import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import formats from "ajv-formats"
import type { JsonSchema, OpenApi } from "./OpenApi.ts"

/** Judges values by the schemas of a document, as any client of it may. */
export class Schemas {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true })
  readonly #compiled = new Map<JsonSchema, ValidateFunction>()

  constructor({ components }: OpenApi) {
    formats.default(this.#ajv)
    this.#ajv.addSchema({ components }, "document")
  }

  /** The errors of a value; empty if it matches. */
  problemsOf(schema: JsonSchema, value: unknown): ReadonlyArray<string> {
    const validate = this.#compiled.get(schema) ?? this.#compile(schema)
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }

  #compile(schema: JsonSchema): ValidateFunction {
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document#/')
    const validate = this.#ajv.compile(JSON.parse(text))
    this.#compiled.set(schema, validate)
    return validate
  }
}
