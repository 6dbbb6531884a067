import { FindMyWay } from "effect/http"
import type { KnownRoute } from "../response/allowedMethods.ts"
import { routerConfig } from "../routerConfig.ts"

/** What all paths are called at which there is nothing. */
export const UNMATCHED = "unmatched"

/** Makes a function that tells the template of the route that a request is for, or would be for by another method. */
export const routeTemplates = (
  routes: ReadonlyArray<KnownRoute>,
): ((method: string, url: string) => string) => {
  const router = FindMyWay.make<string>(routerConfig)
  for (const { method, path } of routes) router.on(method, path, path)
  const methods = Array.from(new Set(routes.map(({ method }) => method)))
  return (method, url) => {
    const own = method === "HEAD" ? "GET" : method
    // The asked one first; each of the others is asked for what no method is known for, or another one.
    for (const known of methods.toSorted((a, b) => Number(b === own) - Number(a === own))) {
      const route = router.find(known, url)?.handler
      if (route !== undefined) return route
    }
    return UNMATCHED
  }
}
