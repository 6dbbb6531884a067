import type { PolicyInForce } from "@tocsin/client"
import { isSame } from "./isSame.ts"

export type Policy = PolicyInForce["policy"]
export type Path = ReadonlyArray<string>

/** An entry of the policy: its value, and where it stands. */
export interface Entry<Value extends object = object> {
  readonly path: Path
  readonly value: Value
  /** How many entries its list had then. */
  readonly count: number
}

const valueAt = (policy: Policy, path: Path): unknown =>
  path.reduce<unknown>((value, name) => Reflect.get(Object(value), name), policy)

/** The entry at a path, whose values are of the type that the path says. */
export const entryAt = <Value extends object>(policy: Policy, path: Path): Entry<Value> | undefined => {
  const [list, value] = [valueAt(policy, path.slice(0, -1)), valueAt(policy, path)]
  if (typeof value !== "object" || value === null) return undefined
  return { path, value: value as Value, count: Array.isArray(list) ? list.length : 0 }
}

/**
 * An entry as it is now. Items of lists move: one is that with the same value or name or, while none was
 * added or removed, the one in its place.
 */
export const presentOf = <Value extends object>(
  policy: Policy,
  { count, path, value }: Entry<Value>,
): Entry<Value> | undefined => {
  const around = path.slice(0, -1)
  const list = valueAt(policy, around)
  const there = entryAt<Value>(policy, path)
  if (!Array.isArray(list) || isSame(there?.value, value)) return there
  const itemWhere = (holds: (each: unknown) => boolean) =>
    entryAt<Value>(policy, [...around, String(list.findIndex(holds))])
  const name: unknown = Reflect.get(value, "name")
  return (
    itemWhere((each) => isSame(each, value)) ??
    (name === undefined
      ? list.length === count
        ? there
        : undefined
      : itemWhere((each) => Reflect.get(Object(each), "name") === name))
  )
}

/** Whether an entry is not what it was when its form opened. */
export const isChanged = (present: Entry | undefined, opened: Entry): boolean =>
  !isSame(present?.value, opened.value)

/** A change of the policy's text (RFC 6902). */
export type Operation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }

const pointer = (path: Path): string =>
  path.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** The least changes that lead from one value to another, so that the text of all else stays as it is. */
const changesOf = (path: Path, before: unknown, after: unknown): ReadonlyArray<Operation> => {
  if (isSame(before, after)) return []
  const isList = Array.isArray(before)
  const isAlike =
    isObject(before) &&
    isObject(after) &&
    isList === Array.isArray(after) &&
    // Of a list, one text at a time would read as another list.
    (!isList || (before.every(isObject) && before.length === Object.keys(after).length))
  if (!isAlike) return [{ op: "replace", path: pointer(path), value: after }]
  return Object.keys({ ...before, ...after }).flatMap((name): ReadonlyArray<Operation> => {
    const place = [...path, name]
    if (!Object.hasOwn(after, name)) return [{ op: "remove", path: pointer(place) }]
    const value: unknown = Reflect.get(after, name)
    if (!Object.hasOwn(before, name)) return [{ op: "add", path: pointer(place), value }]
    return changesOf(place, Reflect.get(before, name), value)
  })
}

/** Removes an entry, with its key where that has no other one. The last line of a group stays: none may be empty. */
export const removalOf = (policy: Policy, former?: Entry): ReadonlyArray<Operation> => {
  if (former === undefined || (former.path.length > 2 && former.count === 1)) return []
  const around = former.path.slice(0, 1)
  const isOnly = former.path.length === 2 && Object.keys(Object(valueAt(policy, around))).length === 1
  return [{ op: "remove", path: pointer(isOnly ? around : former.path) }]
}

/** Writes a value: in the place of an entry, else as a new one at a path, below the others around it. */
export const operationsOf = (
  policy: Policy,
  path: Path,
  value: object,
  former?: Entry,
): ReadonlyArray<Operation> => {
  if (former !== undefined) return changesOf(former.path, former.value, value)
  const [key = "", name = ""] = path
  if (Object.hasOwn(policy, key)) return [{ op: "add", path: pointer(path), value }]
  return [{ op: "add", path: pointer([key]), value: name === "-" ? [value] : { [name]: value } }]
}
