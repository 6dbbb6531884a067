/** Uses something that a browser may refuse; `undefined` if it does. */
export const attempt = <A>(use: () => A): A | undefined => {
  try {
    return use()
  } catch {
    return undefined
  }
}

/** How long the browser keeps something: as long as the tab is open, or beyond. */
export type Storage = "sessionStorage" | "localStorage"

/** Keeps a text, where the browser lets it; whether it did. */
export const keepText = (storage: Storage, key: string, text: string): boolean =>
  attempt(() => globalThis[storage].setItem(key, text) ?? true) ?? false

export const keptText = (storage: Storage, key: string): string | null =>
  attempt(() => globalThis[storage].getItem(key)) ?? null

export const forget = (storage: Storage, key: string): void =>
  attempt(() => globalThis[storage].removeItem(key))

/** Keeps a value as JSON. */
export const keep = (storage: Storage, key: string, value: unknown): boolean =>
  keepText(storage, key, JSON.stringify(value))

/** A kept value, into which anyone can have written anything. */
export const kept = (storage: Storage, key: string): unknown =>
  attempt((): unknown => JSON.parse(keptText(storage, key) ?? "null"))

/** Where a browser that rings keeps its row: only then a page loads the script about it. */
export const BROWSER_KEY = "tocsin.browser"

const TRIAL = "tocsin.trial"

/** Whether the browser keeps anything for this page. */
export const keepsAnything = (): boolean => {
  const isKept = keepText("localStorage", TRIAL, TRIAL)
  forget("localStorage", TRIAL)
  return isKept
}
