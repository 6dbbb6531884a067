/** The code of an error of Node.js or of a library, such as ENOENT; empty if it has none. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""
