import { requiredHeaders } from "./OpenApi.ts"
import { KEYS } from "./populatePools.ts"
import { escaped, type Generated, TOO_LARGE } from "./requests.ts"
import { READ_TOKEN, UI_TOKEN } from "./DocumentedServer.ts"

/** A key that is used only here. */
const HASTY = "key-of-a-hasty-one"

const NOT_UTF8 = new Uint8Array([0xff])

const withToken = (request: Generated, token: string): Generated => ({
  ...request,
  token,
  headers: { ...requiredHeaders(request.placed.operation), authorization: `Bearer ${token}` },
})

const isForAgents = ({ placed: { operation } }: Generated): boolean =>
  operation.security.some((requirement) => "agentKey" in requirement)

/** With the first of its parameters as none may be. */
const withBadParameter = (request: Generated): ReadonlyArray<Generated> => {
  const [first] = request.placed.operation.parameters.filter((parameter) => parameter.in !== "header")
  if (first === undefined) return []
  const { path } = request.placed
  const isInPath = first.in === "path"
  const values = isInPath ? { ...request.path, [first.name]: "x".repeat(129) } : request.path
  const query = isInPath ? [] : [[first.name, ""] as const]
  const target = escaped(path, values) + (isInPath ? "" : `?${first.name}=`)
  return [withToken({ ...request, path: values, query, target }, UI_TOKEN)]
}

/** With each of its texts as no name is: the document refuses what the service refuses. */
const withControls = (request: Generated): ReadonlyArray<Generated> =>
  request.placed.operation.parameters
    .filter((parameter) => parameter.in === "query" && parameter.schema.type === "string")
    .map(({ name }) => {
      const target = `${escaped(request.placed.path, request.path)}?${name}=%00`
      return withToken({ ...request, query: [[name, "\0"]], target }, UI_TOKEN)
    })

/** An example as a body: a text as it is, anything else as JSON. */
export const bodyOfExample = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value)

/** With each body that the document shows: most generated ones do not resemble them. */
const asShown = (request: Generated): ReadonlyArray<Generated> => {
  const [media] = Object.values(request.placed.operation.requestBody?.content ?? {})
  return Object.values(media?.examples ?? {}).map(({ value }) => ({
    ...request,
    json: value,
    body: bodyOfExample(value),
  }))
}

/** The same on what the document's examples are about: IDs that are not there, and names that may be. */
const ofExamples = (request: Generated, names: Readonly<Record<string, string>> = {}): Generated => {
  const { operation, path: template } = request.placed
  const path = Object.fromEntries(
    operation.parameters.map(({ name, example }) => [name, names[name] ?? String(example)]),
  )
  return { ...request, path, query: [], target: escaped(template, path) }
}

/** With the bodies that the document shows, as operators send them. */
const ofOperators = (request: Generated): ReadonlyArray<Generated> =>
  [request, ofExamples(request), ofExamples(request, { name: "nobody" })]
    .flatMap((one) => (one.body === undefined ? [one] : asShown(one)))
    .map((shown) => withToken(shown, UI_TOKEN))

/**
 * With the body that the document shows: for the agent whose key it is, also if it is not accepted, and
 * as agents in trouble send it, by a key that is blocked, and too often.
 */
const ofAgents = (request: Generated): ReadonlyArray<Generated> => {
  const [shown] = asShown(request)
  if (shown === undefined) return []
  const often = Array.from({ length: 20 }, () => withToken(shown, HASTY))
  const own = ofExamples(shown, { agent_id: "web" })
  const pending = withToken(ofExamples(shown, { agent_id: "guest" }), KEYS.pending)
  const replacing = withToken(ofExamples(shown, { agent_id: "db" }), KEYS.replacement)
  return [withToken(own, KEYS.accepted), withToken(shown, KEYS.blocked), pending, replacing, ...often]
}

/** With a key that is none, and with one key for two requests. */
const withKeys = (request: Generated): ReadonlyArray<Generated> => {
  const { operationId, parameters } = request.placed.operation
  if (!parameters.some(({ name }) => name === "Idempotency-Key")) return []
  const [shown = request] = asShown(request)
  const keyed = (key: string, more: string): Generated => {
    const { headers, ...right } = withToken(shown, UI_TOKEN)
    return {
      ...right,
      target: `${right.target}${right.query.length > 0 ? "&" : "?"}${more}`,
      headers: { ...headers, "idempotency-key": key },
    }
  }
  return [keyed("a b", "first"), keyed(operationId, "first"), keyed(operationId, "second")]
}

/** In place of a policy that is not in force. */
const onAnother = (request: Generated): ReadonlyArray<Generated> =>
  ["applyPolicy", "patchPolicy", "putReceiver"].includes(request.placed.operation.operationId)
    ? asShown(request).map((shown) => {
        const { headers, ...right } = withToken(shown, UI_TOKEN)
        return { ...right, headers: { ...headers, "if-match": "another" } }
      })
    : []

/** Parameters are refused before bodies. */
const withoutQuery = (request: Generated): Generated => ({
  ...request,
  query: [],
  target: request.target.replace(/\?.*$/u, ""),
})

/**
 * A generated request in ways that are refused, which would come by chance alone in a long time.
 */
export const provocations = (request: Generated): ReadonlyArray<Generated> => {
  const right = withToken(request, isForAgents(request) ? KEYS.accepted : UI_TOKEN)
  return [
    { ...request, token: undefined, headers: {} },
    withToken(request, READ_TOKEN),
    { ...withoutQuery(right), body: TOO_LARGE, json: undefined },
    { ...withoutQuery(right), body: NOT_UTF8, json: undefined },
    ...withBadParameter(request),
    ...withControls(request),
    ...onAnother(request),
    ...withKeys(request),
    ...(isForAgents(request) ? ofAgents(request) : ofOperators(request)),
  ]
}
