import { ValidationError } from "@tocsin/contract/formats/Errors"
import { OpsApi } from "@tocsin/contract/api/OpsApi"
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import { describeIssue } from "@tocsin/contract/formats/describeIssue"
import { unknownArguments, unknownOptions } from "@tocsin/contract/formats/nearestName"
import { Record, Result, Schema, SchemaAST, SchemaParser } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"

/**
 * A body as if it had come as JSON: a field that is undefined is absent, a Date is its ISO string.
 * A value that JSON cannot hold stays as it is.
 */
export const asJson = (body: unknown): unknown => {
  try {
    return JSON.parse(JSON.stringify(body))
  } catch {
    return body
  }
}

type V1 = (typeof TocsinApi)["groups"]
type Ops = (typeof OpsApi)["groups"]

/** The endpoints of /api/v1 and /ops/v1 that need a token or a key, by name. */
type Endpoints = AllOf<
  (
    | V1["agents" | "operators"]
    | Ops[Exclude<keyof Ops, "export" | "placeWatches" | "signIn" | "stream">]
  )["endpoints"]
>
/** All members of a union at once. */
export type AllOf<Each> = (Each extends unknown ? (each: Each) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never
export type EndpointName = keyof Endpoints

interface TypesOfSchema {
  readonly Type: unknown
  readonly Encoded: unknown
}
/** The schema of a part of an endpoint: its `Encoded` is what goes over the wire. */
type SchemaOf<Part> = Part extends { readonly schema: infer S extends TypesOfSchema } ? S : never

/** The body that an endpoint takes. */
export type Body<Name extends EndpointName> = SchemaOf<Endpoints[Name]["~Payload"]>["Encoded"]
/** The parameters in its path. */
export type Path<Name extends EndpointName> = SchemaOf<Endpoints[Name]["~Params"]>["Encoded"]
/** The parameters in its query: numbers and booleans as such, everything else as text. */
export type Query<Name extends EndpointName> = ParametersOf<SchemaOf<Endpoints[Name]["~Query"]>>
/** Its header fields, by their names in lower case. */
export type Headers<Name extends EndpointName> = ParametersOf<SchemaOf<Endpoints[Name]["~Headers"]>>
/** The body of its answer. */
export type Answer<Name extends EndpointName> = SchemaOf<Endpoints[Name]["~Success"]>["Encoded"]
/** An item of the pages that it answers with. */
export type Item<Name extends EndpointName> =
  Answer<Name> extends { readonly items: ReadonlyArray<infer Element> } ? Element : never
/** The endpoints whose calls may change something. */
export type WritingEndpoint = {
  [Name in EndpointName]: Endpoints[Name]["method"] extends "GET" ? never : Name
}[EndpointName]
/** The errors that it answers with. */
export type ErrorOf<Name extends EndpointName> = HttpApiEndpoint.Errors<Endpoints[Name]>

/**
 * The arguments of a call: the text of the only parameter in its path, or an object of several, its body, and an object
 * of its other parameters. `read` does the same at run time.
 */
export type InputOf<Name extends EndpointName> = [...InPath<Name>, ...InBody<Name>, ...Beside<Name>]
type InPath<Name extends EndpointName> = [Endpoints[Name]["~Params"]] extends [never]
  ? []
  : IsUnion<keyof Path<Name>> extends true
    ? [parameters: Path<Name>]
    : [value: string]
type InBody<Name extends EndpointName> = [Endpoints[Name]["~Payload"]] extends [never]
  ? []
  : [body: Body<Name>]
type Beside<Name extends EndpointName> = [Endpoints[Name]["~Query" | "~Headers"]] extends [never]
  ? []
  : object extends Others<Name>
    ? [parameters?: Others<Name>]
    : [parameters: Others<Name>]
type Others<Name extends EndpointName> = OrAny<Endpoints[Name]["~Query"], Query<Name>> &
  OrAny<Endpoints[Name]["~Headers"], Headers<Name>>
type OrAny<Part, Parameters> = [Part] extends [never] ? unknown : Parameters
type IsUnion<T, Each = T> = T extends unknown ? ([Each] extends [T] ? false : true) : never

type ParametersOf<S extends TypesOfSchema> = {
  readonly [Key in keyof S["Encoded"]]:
    | Plain<S["Type"][Key & keyof S["Type"]], S["Encoded"][Key]>
    | (object extends Pick<S["Encoded"], Key> ? undefined : never)
}
type Plain<Type, Encoded> = Type extends number | boolean ? Type : Encoded

type DecodedRequest = Readonly<Partial<Record<"params" | "query" | "headers" | "payload", unknown>>>

type Codec = Schema.ConstraintCodec<unknown, unknown>
interface AnyEndpoint {
  readonly method: string
  readonly path: string
  readonly params: Codec | undefined
  readonly query: Codec | undefined
  readonly headers: Codec | undefined
  readonly payload: ReadonlyMap<string, { readonly schemas: readonly [Codec] }>
  readonly success: ReadonlySet<Codec>
}

type Read = Result.Result<DecodedRequest, ValidationError>
/** Decodes an argument of a call, or refuses it with the service's own message. */
type Reader = (given: unknown) => Read

const reader = (
  part: keyof DecodedRequest,
  schema: Codec,
  onExcessProperty: "error" | "ignore" = "error",
): Reader => {
  // A request's body has a schema that refuses other fields; a URL may have other parameters.
  const decode = SchemaParser.decodeUnknownResult(schema, { onExcessProperty })
  const whole = part === "payload" ? "the request body" : "the parameters"
  return (input) =>
    Result.mapBoth(decode(input), {
      onSuccess: (decoded): DecodedRequest => ({ [part]: decoded }),
      onFailure: (issue) => new ValidationError({ message: describeIssue(issue, whole) }),
    })
}

const refused = (problems: ReadonlyArray<string>): Read =>
  Result.fail(new ValidationError({ message: problems.join("\n") }))

/** Two parts of a request; the second is read if the first fits. */
const both = (first: Read, second: () => Read): Read =>
  Result.flatMap(first, (one) => Result.map(second(), (other) => ({ ...one, ...other })))

const toText = (value: unknown): unknown =>
  typeof value === "number" || typeof value === "boolean" ? String(value) : value

/** Parameters as a query or a path has them: numbers and booleans as text, absent ones left out. */
const asTexts = (parameters: object): object =>
  Object.fromEntries(
    Object.entries(parameters)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, toText(value)]),
  )

/** Reads the value of the only parameter in a path, or an object of several. */
const pathReader = (params: Codec, path: string): Reader => {
  const read = reader("params", params)
  const [first, ...others] = Array.from(path.matchAll(/:(\w+)/g), ([, name = ""]) => name)
  return first !== undefined && others.length === 0
    ? (value) => read(asTexts({ [first]: value }))
    : (given) => read(asTexts(Object(given)))
}

const bodyReader = (body: Codec): Reader => {
  const read = reader("payload", body)
  // Most bodies fit as they are, and are not converted.
  return (given) => Result.orElse(read(given), () => read(asJson(given)))
}

/** Reads an object of the parameters in the query and in the header. */
const othersReader = ({ headers, query }: AnyEndpoint): Reader | undefined => {
  const either = query ?? headers
  if (either === undefined) return undefined
  if (query === undefined || headers === undefined) {
    const read = reader(query === undefined ? "headers" : "query", either)
    return (given) => read(asTexts(Object(given)))
  }
  const [readQuery, readHeaders] = [reader("query", query, "ignore"), reader("headers", headers, "ignore")]
  const known = [query, headers].flatMap(({ ast }) =>
    SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : [],
  )
  return (input) => {
    const given = asTexts(Object(input))
    const problems = unknownOptions("", given, known)
    return problems.length > 0 ? refused(problems) : both(readQuery(given), () => readHeaders(given))
  }
}

/** Translates between the plain data of a call and the decoded data of its endpoint. */
const codecOf = (endpoint: AnyEndpoint) => {
  const [success = Schema.Void, ...others] = endpoint.success
  const [body] = endpoint.payload.values()
  const readers = [
    endpoint.params && pathReader(endpoint.params, endpoint.path),
    body && bodyReader(body.schemas[0]),
    othersReader(endpoint),
  ].filter((each) => each !== undefined)
  return {
    /** How many arguments a call of it takes. */
    inputs: readers.length,
    read: (...given: ReadonlyArray<unknown>): Read => {
      const problems = unknownArguments(given.slice(readers.length))
      return problems.length > 0
        ? refused(problems)
        : readers.reduce((read: Read, next, at) => both(read, () => next(given[at])), Result.succeed({}))
    },
    write: Schema.encodeUnknownSync(others.length === 0 ? success : Schema.Union([success, ...others])),
    isWrite: endpoint.method !== "GET",
  }
}

const { export: _, signIn: __, stream: ___, ...groups } = OpsApi.groups
const endpoints = [TocsinApi.groups.agents, TocsinApi.groups.operators, ...Object.values(groups)].map(
  (group) => group.endpoints,
)

export const endpointCodecs = Record.map(
  // No schema of the API needs a service to decode or encode.
  Object.assign({}, ...endpoints) as Readonly<Record<EndpointName, AnyEndpoint>>,
  codecOf,
)
