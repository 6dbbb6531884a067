import type { FieldProblem } from "@tocsin/contract/formats/describeIssue"

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

const without = (item: Item, names: Names): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.has(name)))

type Names = ReadonlySet<PropertyKey | undefined>
const NONE: Names = new Set()

/** The parts of each list that have malformed fields, and these; `undefined` stands for the part itself. */
const indexMalformed = (problems: ReadonlyArray<FieldProblem>) => {
  const lists = new Map<PropertyKey | undefined, Map<PropertyKey | undefined, Set<PropertyKey | undefined>>>()
  for (const {
    path: [list, place, field],
  } of problems) {
    const places = lists.get(list) ?? new Map<PropertyKey | undefined, Set<PropertyKey | undefined>>()
    lists.set(list, places.set(place, (places.get(place) ?? new Set()).add(field)))
  }
  return {
    placesIn: (list: string): Names => new Set(lists.get(list)?.keys()),
    fieldsIn: (list: PropertyKey | undefined, place: PropertyKey | undefined): Names =>
      lists.get(list)?.get(place) ?? NONE,
  }
}

/**
 * A document without its malformed fields, so that the other parts can be read too. A part that cannot be
 * read without them is replaced by an empty one, which keeps the others at their places.
 */
export const withoutMalformed = (value: unknown, problems: ReadonlyArray<FieldProblem>): unknown => {
  if (!isItem(value)) return {}
  const kept = without(value, new Set(problems.flatMap(({ path }) => (path.length === 1 ? path : []))))
  const { fieldsIn, placesIn } = indexMalformed(problems)
  return Object.fromEntries(
    Object.entries(kept).map(([list, parts]) => {
      if (isItem(parts)) return [list, without(parts, placesIn(list))]
      if (!Array.isArray(parts)) return [list, parts]
      return [list, parts.map((part: unknown, n) => readable(part, list, fieldsIn(list, n)))]
    }),
  )
}

const readable = (part: unknown, list: string, malformed: Names): unknown => {
  if (malformed.size === 0) return part
  const item = isItem(part) ? without(part, malformed) : {}
  // A window has its time in one of two fields.
  const isGiven = (name: string) =>
    Object.hasOwn(item, name) || (name === "cron" && Object.hasOwn(item, "at"))
  const missing = (NEEDED[list] ?? []).filter((name) => !isGiven(name))
  return {
    ...item,
    ...Object.fromEntries(missing.map((name) => [name, STAND_INS[name]])),
    ...(list === "windows" && !Object.hasOwn(item, "name") && { name: "malformed" }),
  }
}

/** Of a part with malformed fields, only these are judged: what they say depends on no other. */
const JUDGED_ALONE: Names = new Set(["match", "to", "steps", "cron"])
/** A rule of freshness has a time zone only beside `cron`. */
const JUDGED_IN_WINDOWS: Names = new Set([...JUDGED_ALONE, "tz"])

/** Whether a problem that was found without malformed fields is one of the document. */
export const isCertainBeside = (malformed: ReadonlyArray<FieldProblem>) => {
  const { fieldsIn } = indexMalformed(malformed)
  return ({ path: [list, place, field] }: FieldProblem): boolean => {
    const others = place === undefined ? NONE : fieldsIn(list, place)
    const judged = list === "windows" ? JUDGED_IN_WINDOWS : JUDGED_ALONE
    return others.size === 0 || (judged.has(field) && !others.has(field))
  }
}
