import type { HttpServerRequest } from "effect/http"

/** The path of a request's target, without its query. */
export const pathOf = (url: string): string => {
  const end = url.indexOf("?")
  return end === -1 ? url : url.slice(0, end)
}

/** The router would end a path at these: `DELETE /agents/a;b` must not delete agent a. */
const ROUTER_DELIMITER = /^[^?]*[;#]/

/** The same request with a path that means to the router what it says. */
export const withPlainPath = (
  request: HttpServerRequest.HttpServerRequest,
): HttpServerRequest.HttpServerRequest => {
  const { url } = request
  if (!ROUTER_DELIMITER.test(url)) return request
  const path = pathOf(url)
  return request.modify({ url: path.replaceAll(/[;#]/g, encodeURIComponent) + url.slice(path.length) })
}
