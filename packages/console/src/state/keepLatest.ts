/** Keeps a value under its key, and of all of them the latest ones. */
export const keepLatest = <Key, Value>(kept: Map<Key, Value>, most: number, key: Key, value: Value): void => {
  kept.delete(key)
  kept.set(key, value)
  const [oldest] = kept.keys()
  if (kept.size > most && oldest !== undefined) kept.delete(oldest)
}
