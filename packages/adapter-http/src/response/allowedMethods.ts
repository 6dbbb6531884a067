import { FindMyWay } from "effect/http"
import { HttpApi } from "effect/http-api"
import { TocsinApi } from "../api.ts"
import { routerConfig } from "../routerConfig.ts"

const methods = ["GET", "POST", "DELETE"] as const

const routes = FindMyWay.make<true>(routerConfig)
HttpApi.reflect(TocsinApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }) => routes.on(endpoint.method, endpoint.path as FindMyWay.PathInput, true),
})

/** The methods that the API knows for a path; none for one that it does not know (decisions §1). */
export const allowedMethods = (url: string): ReadonlyArray<string> =>
  methods
    .filter((method) => routes.find(method, url) !== undefined)
    // Whatever answers GET answers HEAD.
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
