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

/** A kept text, into which anyone can have written anything. */
export const kept = (storage: Storage, key: string): unknown =>
  attempt((): unknown => JSON.parse(globalThis[storage].getItem(key) ?? "null"))
