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
