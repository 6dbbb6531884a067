import type { Target } from "./Target.ts"

/** The target at a path below that of another, whose query stays. */
export const below = (base: Target, path: string): Target => {
  const url = new URL(base.url)
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`
  return { ...base, url }
}
