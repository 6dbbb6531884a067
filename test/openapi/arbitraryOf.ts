import * as fc from "fast-check"
import type { JsonSchema, OpenApi } from "./OpenApi.ts"

/**
 * Values that exist, by the names of schemas and of parameters: most requests shall be about
 * something that is there.
 */
export type Pools = Readonly<Record<string, ReadonlyArray<string>>>

/**
 * Characters of one to four bytes, in one code unit and in two; none that a storage could not keep.
 */
const CHARACTERS = [..."abcXYZ019._:- /%?#&=+\"'\\<>{}äß€漢😀"]

const integer = ({ minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER }: JsonSchema) =>
  fc.oneof(
    fc.integer({ min: Math.max(minimum, -3), max: Math.min(maximum, 300) }),
    fc.constantFrom(minimum, maximum),
  )

const dateTime = fc
  .tuple(
    fc.date({
      min: new Date("0001-01-02T00:00:00Z"),
      max: new Date("9999-12-30T00:00:00Z"),
      noInvalidDate: true,
    }),
    fc.constantFrom("Z", "123Z", "456789Z", "+00:00"),
  )
  .map(([date, end]) => date.toISOString().slice(0, -1) + end)

/** Texts as long as they may be are seldom, and all the more worth trying. */
const text = ({ minLength = 0, maxLength = 300 }: JsonSchema): fc.Arbitrary<string> => {
  const usual = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) }
  return fc.oneof(
    { weight: 9, arbitrary: fc.string({ unit: fc.constantFrom(...CHARACTERS), ...usual }) },
    { weight: 1, arbitrary: fc.constantFrom("x".repeat(minLength), "x".repeat(maxLength)) },
  )
}

/** Whether a pattern takes every text of {@link CHARACTERS}. */
const allows = (pattern: string): boolean => new RegExp(pattern, "u").test(CHARACTERS.join(""))

const ofPatterns = new Map<string, fc.Arbitrary<string>>()

/** An arbitrary takes milliseconds to make, and each request has several. */
const ofPattern = (pattern: string): fc.Arbitrary<string> => {
  const made = ofPatterns.get(pattern) ?? fc.stringMatching(new RegExp(pattern, "u"), { size: "small" })
  ofPatterns.set(pattern, made)
  return made
}

const matching = (pattern: string, { maxLength = 256 }: JsonSchema): fc.Arbitrary<string> =>
  ofPattern(pattern).filter((made) => made.length <= maxLength)

const string = (schema: JsonSchema): fc.Arbitrary<string> => {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.format === "date-time") return dateTime
  const { pattern } = schema
  return pattern === undefined || allows(pattern) ? text(schema) : matching(pattern, schema)
}

/** Arbitraries of values that fit the schemas of a document. */
export const arbitraryOf = (document: OpenApi, pools: Pools) => {
  const object = (schema: JsonSchema): fc.Arbitrary<unknown> => {
    const { properties, required = [], additionalProperties, propertyNames, maxProperties } = schema
    if (properties === undefined && typeof additionalProperties === "object") {
      const key = string({ type: "string", ...propertyNames, maxLength: 12 })
      return fc.dictionary(key, of(additionalProperties) as fc.Arbitrary<string>, {
        maxKeys: Math.min(maxProperties ?? 3, 3),
      })
    }
    const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, of(field)] as const)
    return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] })
  }

  const array = ({ items = {}, minItems = 0, maxItems = 5 }: JsonSchema): fc.Arbitrary<unknown> =>
    fc.oneof(
      {
        weight: 19,
        arbitrary: fc.array(of(items), { minLength: minItems, maxLength: Math.min(maxItems, 4) }),
      },
      { weight: 1, arbitrary: of(items).map((item) => Array.from({ length: maxItems }, () => item)) },
    )

  const named = ($ref: string): fc.Arbitrary<unknown> => {
    const name = $ref.slice($ref.lastIndexOf("/") + 1)
    const fitting = of(document.components.schemas[name] ?? {})
    const existing = pools[name] ?? []
    return existing.length === 0
      ? fitting
      : fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...existing) }, { weight: 1, arbitrary: fitting })
  }

  const of = (schema: JsonSchema): fc.Arbitrary<unknown> => {
    if (schema.$ref !== undefined) return named(schema.$ref)
    if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(of))
    switch (schema.type) {
      // Any JSON.
      case undefined:
        return fc.jsonValue()
      case "string":
        return string(schema)
      case "integer":
        return integer(schema)
      case "number":
        return fc.integer({ min: -1_000, max: 1_000 })
      case "boolean":
        return fc.boolean()
      case "null":
        return fc.constant(null)
      case "array":
        return array(schema)
      case "object":
        return object(schema)
      default:
        throw new Error(`teach the generator schemas such as ${JSON.stringify(schema)}`)
    }
  }
  return of
}
