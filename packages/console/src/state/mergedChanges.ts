import { isSame, partsOf } from "./isSame.ts"

/** The changes of a form, and where others wrote something else meanwhile. */
interface MergedChanges {
  readonly changes: object
  readonly conflicts: ReadonlyArray<readonly [path: string, present: unknown]>
}

type SecretParts = Partial<Record<"auth" | "body" | "headers", unknown>>

/** Whether an object states secrets, which go to no other address than their writer saw. */
const hasSecrets = ({ auth, body, headers }: SecretParts = {}): boolean =>
  (auth ?? body ?? headers) !== undefined

/**
 * The settings that a form changes: what it was opened with, states now, and what is there meanwhile. Of a setting of
 * several parts, those that the form leaves are as they are now.
 */
export const mergedChanges = (former: object, stated: object, present: object): MergedChanges => {
  const conflicts: Array<MergedChanges["conflicts"][number]> = []
  const merged = (values: ReadonlyArray<object>, keys: object, around = ""): object =>
    Object.fromEntries(
      Object.keys(keys).map((key) => {
        const given = values.map((each): unknown => Reflect.get(each, key))
        const [before, after, there] = given
        if (isSame(before, after) && !(key === "url" && hasSecrets(values[1]))) return [key, there]
        const parts = given.flatMap((each) => partsOf(each) ?? [])
        if (parts.length === 3) return [key, merged(parts, Object.assign({}, ...parts), `${around}${key}.`)]
        if (!isSame(before, there) && !isSame(after, there)) conflicts.push([around + key, there])
        return [key, after]
      }),
    )
  const changed = Object.entries(stated).filter(([key, value]) => !isSame(Reflect.get(former, key), value))
  return { changes: merged([former, stated, present], Object.fromEntries(changed)), conflicts }
}
