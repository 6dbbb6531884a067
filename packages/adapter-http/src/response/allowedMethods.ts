import { FindMyWay } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { routerConfig } from "../routerConfig.ts"

/** A method that is known for a path. */
export interface KnownRoute {
  readonly method: string
  readonly path: FindMyWay.PathInput
}

/** The routes of an API, and that of its OpenAPI document. */
export const routesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  documentPath: FindMyWay.PathInput,
): ReadonlyArray<KnownRoute> => {
  const routes: Array<KnownRoute> = [{ method: "GET", path: documentPath }]
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path } }) =>
      // The paths of a definition begin with a slash; its erased type has forgotten it.
      routes.push({ method, path: path as FindMyWay.PathInput }),
  })
  return routes
}

/** Makes a function that tells which methods are known for a path: none if the path is unknown (docs/rules.md#order-of-checks). */
export const allowedMethods = (
  routes: ReadonlyArray<KnownRoute>,
): ((url: string) => ReadonlyArray<string>) => {
  const router = FindMyWay.make<true>(routerConfig)
  for (const { method, path } of routes) router.on(method, path, true)
  const methods = Array.from(new Set(routes.map(({ method }) => method)))
  return (url) =>
    methods
      .filter((method) => router.find(method, url) !== undefined)
      // Whatever answers GET answers HEAD.
      .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
}
