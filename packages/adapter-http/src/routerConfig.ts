/**
 * How paths are compared: as they are. A parameter's length is no matter of the router: one that is too long is 400,
 * not 404.
 */
export const routerConfig = {
  caseSensitive: true,
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  maxParamLength: Number.MAX_SAFE_INTEGER,
} as const
