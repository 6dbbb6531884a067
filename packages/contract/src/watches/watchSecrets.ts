/** Where a server finds a secret of a watch of the policy (docs/watches.md#secrets). */
export type SecretPlace = { readonly env: string } | { readonly file: string }

interface Credentials<Secret> {
  readonly bearer?: Secret
  readonly basic?: { readonly user: Secret | string; readonly password: Secret }
}

/** The secrets of a probe, as texts or as the places that have them. */
export interface ProbeSecrets<Secret = string> {
  readonly headers?: Readonly<Record<string, Secret | string>>
  readonly auth?: Credentials<Secret>
  readonly body?: unknown
}

/** The kinds of probes that may have secrets. */
interface Sending {
  readonly http?: ProbeSecrets<unknown>
  readonly websocket?: ProbeSecrets<unknown>
}

const stated = <A extends object>(fields: A): A => {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined)
  // Of the same fields, those that are there.
  return Object.fromEntries(kept) as A
}

/** The secrets of a probe; nothing if it states none. */
export const secretsOf = <Secret>({
  http,
  websocket,
}: {
  readonly http?: ProbeSecrets<Secret>
  readonly websocket?: Pick<ProbeSecrets<Secret>, "headers">
}): ProbeSecrets<Secret> | undefined => {
  const { auth, body, headers } = http ?? { ...websocket, auth: undefined, body: undefined }
  const found = stated({ headers, auth, body })
  // The fields of which none is undefined.
  return Object.keys(found).length === 0 ? undefined : (found as ProbeSecrets<Secret>)
}

const without = <A extends object>({ ...options }: A): A => {
  for (const name of ["headers", "auth", "body"]) Reflect.deleteProperty(options, name)
  return options
}

export const withoutSecrets = <P extends Sending>(probe: P): P => ({
  ...probe,
  ...(probe.http !== undefined && { http: without(probe.http) }),
  ...(probe.websocket !== undefined && { websocket: without(probe.websocket) }),
})

const NEVER_SENT = new Set<unknown>([undefined, "GET", "HEAD"])

/** A probe with these secrets. Those that its kind or method does not send are left out. */
export const withSecrets = <P extends Sending & { readonly http?: { readonly method?: string | undefined } }>(
  probe: P,
  { body, headers, ...others }: ProbeSecrets,
): P => {
  const sent = NEVER_SENT.has(probe.http?.method) ? undefined : body
  return {
    ...probe,
    ...(probe.http !== undefined && {
      http: { ...probe.http, ...others, ...stated({ body: sent, headers }) },
    }),
    ...(probe.websocket !== undefined && { websocket: { ...probe.websocket, ...stated({ headers }) } }),
  }
}

/** The names of secrets, as a watch shows them. */
export const secretNames = ({ auth, body, headers = {} }: ProbeSecrets<unknown>): ReadonlyArray<string> => [
  ...Object.keys(headers).map((name) => `headers.${name}`),
  ...(auth === undefined ? [] : ["auth"]),
  ...(body === undefined ? [] : ["body"]),
]

/** Whether secrets are named rather than stated. */
export const hasPlaces = ({ auth, headers = {} }: ProbeSecrets<SecretPlace>): boolean =>
  auth !== undefined || Object.values(headers).some((value) => typeof value !== "string")

const SIGNS: Readonly<Record<string, string>> = { "http:": "80", "ws:": "80", "https:": "443", "wss:": "443" }
const ORIGIN = /^(\w+:)\/\/([^/?#]*?)(?::(\d*))?(?:[/?#]|$)/

/** The scheme, host and port of an address, in the one way to write them. */
const originOf = (url: string): string => {
  const [, scheme = "", host = "", port = ""] = ORIGIN.exec(url) ?? []
  const kind = scheme.toLowerCase()
  return `${kind}//${host.toLowerCase()}:${port === "" ? SIGNS[kind] : Number(port)}`
}

interface Addressed {
  readonly http?: { readonly url: string } | undefined
  readonly websocket?: { readonly url: string } | undefined
}

/** Whether two probes ask the same scheme, host and port, so that one's secrets are the other's. */
export const haveSameOrigin = (a: Addressed, b: Addressed): boolean => {
  const [one, other] = [a.http ?? a.websocket, b.http ?? b.websocket]
  return one !== undefined && other !== undefined && originOf(one.url) === originOf(other.url)
}
