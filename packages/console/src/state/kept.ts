/** Uses something that a browser may refuse, such as its storage; `undefined` if it does. */
export const attempt = <A>(use: () => A): A | undefined => {
  try {
    return use()
  } catch {
    return undefined
  }
}

/** How long the browser keeps something: as long as the tab is open, or beyond. */
type Storage = "sessionStorage" | "localStorage"

/** Keeps a value as JSON, where the browser lets it. */
export const keep = (storage: Storage, key: string, value: unknown): void =>
  attempt(() => globalThis[storage].setItem(key, JSON.stringify(value)))

/** A kept value, into which anyone can have written anything. */
export const kept = (storage: Storage, key: string): unknown =>
  attempt((): unknown => JSON.parse(globalThis[storage].getItem(key) ?? "null"))

/** Keeps a value under its key, and of all of them the latest ones. */
export const keepLatest = <Key, Value>(
  latest: Map<Key, Value>,
  most: number,
  key: Key,
  value: Value,
): void => {
  latest.delete(key)
  latest.set(key, value)
  const [oldest] = latest.keys()
  if (latest.size > most && oldest !== undefined) latest.delete(oldest)
}
