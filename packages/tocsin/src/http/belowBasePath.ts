/** The part of a path and its query below a base path; absent if it is not below. */
export const belowBasePath = (basePath: string, path: string): string | undefined =>
  path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined
