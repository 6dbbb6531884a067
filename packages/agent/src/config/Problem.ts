/** Something wrong with a configuration file. */
export interface Problem {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** Where in the document; empty for the document itself. */
  readonly path: string
  readonly message: string
}

/** A problem as people read it: `FILE:LINE: PATH MESSAGE`. */
export const problemText = ({ file, line, path, message }: Problem): string =>
  `${file}:${line}: ${path === "" ? message : `${path} ${message}`}`

/** Why the system does not read a file: the code of its error, or the error itself. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error)

/** The steps from the document to a part of it. */
export type Path = ReadonlyArray<string | number>

/** A path as people write it: `checks.disk.command[1]`. */
export const pathText = (path: Path): string =>
  path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join("")
