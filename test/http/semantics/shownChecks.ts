import { readFileSync } from "node:fs"
import { assert } from "@effect/vitest"
import { type Leaf, mapCalls } from "@tocsin/client/calls/callTable"
import { endpointCodecs } from "@tocsin/client/calls/endpoints"

export const AGENT = "host-1"

/** Checks, each in another state, and what every place says of them (docs/rules.md#late-checks). */
export const SHOWN: Readonly<Record<string, string>> = {
  backup: "late",
  mild: "late",
  never: "late",
  nightly: "late",
  gone: "withdrawn",
  held: "critical",
  load: "ok",
}
/** The one that a silence matches. */
const SILENCED = "held"

export type Found = Readonly<Record<string, unknown>>

/** All objects in an answer, at any depth. */
export const objectsIn = (value: unknown): ReadonlyArray<Found> =>
  Array.isArray(value)
    ? value.flatMap(objectsIn)
    : typeof value === "object" && value !== null
      ? [value as Found, ...Object.values(value).flatMap(objectsIn)]
      : []

/** Objects that say of a check what it is now. An event of its history is past. */
const statesIn = (body: unknown): ReadonlyArray<Found> =>
  objectsIn(body).filter(
    (each) => String(each["check_id"]) in SHOWN && "status" in each && !("event_id" in each),
  )

/** The incident of the withdrawn check, which resolved without a recovery. */
const endsIn = (body: unknown): ReadonlyArray<Found> =>
  objectsIn(body).filter((each) => each["incident_key"] === `${AGENT}/gone` && each["state"] === "resolved")

/** Parts of an answer that say of checks what they are not. */
export const contradicting = (body: unknown, hold: string): ReadonlyArray<Found> => [
  ...statesIn(body).filter((each) => each["state"] !== SHOWN[String(each["check_id"])]),
  ...objectsIn(body).filter(
    ({ check_id, held_by: holds }) =>
      String(check_id) in SHOWN && Array.isArray(holds) && holds.includes(hold) !== (check_id === SILENCED),
  ),
  ...endsIn(body).filter(({ resolution }) => (resolution as Found | null)?.["reason"] !== "withdrawn"),
]

/** Operations that show no check, and those whose answers never end. */
const OTHERS = [
  "agent_download",
  "announcements",
  "enrolments",
  "export",
  "integrations",
  "me",
  "operators",
  "policy",
  "rotas",
  "secrets",
  "session",
  "sessions",
  "silences",
  "stream",
  "watches",
  "windows",
]

const DOCUMENT = new URL("../../../packages/adapter-http/openapi.ops.json", import.meta.url)

/** Every GET of the operators' API, but for {@link OTHERS}: a new operation is among them until somebody looks at it. */
export const pathsOf = (incident: string): ReadonlyArray<string> => {
  const { paths } = JSON.parse(readFileSync(DOCUMENT, "utf8")) as {
    readonly paths: Readonly<Record<string, { readonly get?: unknown }>>
  }
  return (
    Object.keys(paths)
      .filter((path) => paths[path]?.get !== undefined && !OTHERS.includes(path.split("/")[3] ?? ""))
      // An agent asks for what it is to probe.
      .filter((path) => !path.endsWith("/{agent_id}/watches"))
      .map((path) => {
        const named = path
          .replace("{agent_id}", AGENT)
          .replace("{check_id}", "backup")
          .replace("{id}", encodeURIComponent(incident))
        assert.notInclude(named, "{", "say here which value this parameter has")
        if (path === "/ops/v1/report") return `${named}?from=2026-02-28T12:00:00Z&to=2026-03-01T12:00:00Z`
        return ["/ops/v1/explain", "/ops/v1/numbers"].includes(path)
          ? `${named}?agent_id=${AGENT}&check_id=backup`
          : named
      })
  )
}

/** Calls that show no check, by where they begin, and v1's lists, which have the last status. */
const OTHER_CALLS = [
  "agents.download",
  "announcements",
  "checks.all",
  "checks.list",
  "enrolments",
  "incidents.all",
  "incidents.list",
  "integrations",
  "me",
  "operators",
  "policy",
  "push",
  "rotas",
  "secrets",
  "sessions",
  "settings",
  "silences",
  "watches",
  "windows",
]

const namesOf = (calls: object, before = ""): ReadonlyArray<string> =>
  Object.entries(calls).flatMap(([name, entry]: [string, string | object]) =>
    typeof entry === "string" ? [`${before}${name}`] : namesOf(entry, `${before}${name}.`),
  )

/** Calls that read: another one is among them until somebody looks at it. */
const reading = namesOf(
  mapCalls(({ endpoint }: Leaf) => (endpointCodecs[endpoint].isWrite ? {} : endpoint) as object),
).filter((name) => !OTHER_CALLS.some((other) => name === other || name.startsWith(`${other}.`)))

const CHECK = { agent_id: AGENT, check_id: "backup" }

const argumentsOf = (name: string, incident: string): ReadonlyArray<unknown> => {
  if (name === "agents.get") return [AGENT]
  if (["incidents.get", "incidents.trace"].includes(name)) return [incident]
  if (["checks.explain", "numbers.read", "numbers.series"].includes(name)) return [CHECK]
  return name === "checks.report" ? [{ from: "2026-02-28T12:00:00Z", to: "2026-03-01T12:01:00Z" }] : []
}

const answerOf = async (calls: object, name: string, incident: string): Promise<unknown> => {
  const [method = "", ...groups] = name.split(".").toReversed()
  const group = groups.reduceRight((found: object, each) => Reflect.get(found, each) as object, calls)
  const made: unknown = Reflect.apply(Reflect.get(group, method), group, argumentsOf(name, incident))
  if (typeof made !== "object" || made === null || !(Symbol.asyncIterator in made)) return await made
  const items: Array<unknown> = []
  for await (const item of made as AsyncIterable<unknown>) items.push(item)
  return items
}

/** Asks the client or the library for all that shows checks. Returns how often they said what a check is. */
export const walkCalls = async (calls: object, incident: string, hold: string): Promise<number> => {
  let said = 0
  for (const name of reading) {
    const answer = await answerOf(calls, name, incident)
    assert.deepStrictEqual(contradicting(answer, hold), [], name)
    said += statesIn(answer).length
  }
  return said
}
