/** The part of a path and its query below a base path, from its slash on; absent if it is not below. */
export const belowBasePath = (basePath: string, path: string): string | undefined => {
  const below = path.startsWith(basePath) ? path.slice(basePath.length) : "elsewhere"
  if (below === "" || below.startsWith("?")) return `/${below}`
  return below.startsWith("/") ? below : undefined
}
