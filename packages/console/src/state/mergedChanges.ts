import { isSame, partsOf } from "./isSame.ts"

/** The changes of a form, and where others wrote something else meanwhile. */
interface MergedChanges {
  readonly changes: object
  readonly conflicts: ReadonlyArray<readonly [name: string, present: unknown]>
}

/**
 * The settings that a form changes: what it was opened with, states now, and what is there meanwhile. Of a setting of
 * several parts, those that the form leaves are as they are now.
 */
export const mergedChanges = (former: object, stated: object, present: object): MergedChanges => {
  const conflicts: Array<MergedChanges["conflicts"][number]> = []
  const merged = (values: ReadonlyArray<object>, keys: object): object =>
    Object.fromEntries(
      Object.keys(keys).map((key) => {
        const given = values.map((each): unknown => Reflect.get(each, key))
        const [before, after, there] = given
        if (isSame(before, after)) return [key, there]
        const parts = given.flatMap((each) => partsOf(each) ?? [])
        if (parts.length === 3) return [key, merged(parts, Object.assign({}, ...parts))]
        if (!isSame(before, there) && !isSame(after, there)) conflicts.push([key, there])
        return [key, after]
      }),
    )
  const changed = Object.entries(stated).filter(([key, value]) => !isSame(Reflect.get(former, key), value))
  return { changes: merged([former, stated, present], Object.fromEntries(changed)), conflicts }
}
