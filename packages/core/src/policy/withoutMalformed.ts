import type { FieldProblem } from "@tocsin/contract/describeIssue"

type Item = Readonly<Record<string, unknown>>
const isItem = (value: unknown): value is Item =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Well-formed values of fields that a part needs. Nothing is said of them. */
const MATCH = ["agent_id = a"]
const STAND_INS: Item = { match: MATCH, parent: MATCH, child: MATCH, cron: "0 0 * * *", tz: "UTC", for: "1h" }
const NEEDED: Readonly<Record<string, ReadonlyArray<string>>> = {
  windows: ["match", "cron", "tz", "for"],
  freshness: ["match"],
  dependencies: ["parent", "child"],
}

const without = (item: Item, names: ReadonlySet<PropertyKey | undefined>): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.has(name)))

/** The fields that are malformed in one part of a document; `undefined` stands for the part itself. */
const malformedIn = (problems: ReadonlyArray<FieldProblem>, ...place: ReadonlyArray<PropertyKey>) =>
  new Set(
    problems
      .filter(({ path }) => place.every((segment, n) => path[n] === segment))
      .map(({ path }) => path[place.length]),
  )

/**
 * A document without its malformed fields, so that the other parts can be read too. A part that cannot be
 * read without them is replaced by an empty one, which keeps the others at their places.
 */
export const withoutMalformed = (value: unknown, problems: ReadonlyArray<FieldProblem>): unknown => {
  if (!isItem(value)) return {}
  const kept = without(value, new Set(problems.flatMap(({ path }) => (path.length === 1 ? path : []))))
  return Object.fromEntries(
    Object.entries(kept).map(([list, parts]) => {
      if (isItem(parts)) return [list, without(parts, malformedIn(problems, list))]
      if (!Array.isArray(parts)) return [list, parts]
      return [list, parts.map((part: unknown, n) => readable(part, list, malformedIn(problems, list, n)))]
    }),
  )
}

const readable = (part: unknown, list: string, malformed: ReadonlySet<PropertyKey | undefined>): unknown => {
  if (malformed.size === 0) return part
  const item = isItem(part) ? without(part, malformed) : {}
  const missing = (NEEDED[list] ?? []).filter((name) => !Object.hasOwn(item, name))
  return {
    ...item,
    ...Object.fromEntries(missing.map((name) => [name, STAND_INS[name]])),
    ...(list === "windows" && !Object.hasOwn(item, "name") && { name: "malformed" }),
  }
}

/** Of a part with malformed fields, only these are judged: what they say depends on no other. */
const JUDGED_ALONE: ReadonlySet<PropertyKey | undefined> = new Set(["match", "to", "steps", "cron"])
/** A rule of freshness has a time zone only beside `cron`. */
const JUDGED_IN_WINDOWS: ReadonlySet<PropertyKey | undefined> = new Set([...JUDGED_ALONE, "tz"])

/** Whether a problem that was found without malformed fields is one of the document. */
export const isCertainBeside =
  (malformed: ReadonlyArray<FieldProblem>) =>
  ({ path: [list, place, field] }: FieldProblem): boolean => {
    const others = malformed.filter(
      ({ path }) => path[0] === list && path[1] === place && place !== undefined,
    )
    const judged = list === "windows" ? JUDGED_IN_WINDOWS : JUDGED_ALONE
    return others.length === 0 || (judged.has(field) && others.every(({ path }) => path[2] !== field))
  }
