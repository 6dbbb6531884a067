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

/** The steps from the document to a part of it. */
export type Path = ReadonlyArray<string | number>

/** A path as people write it: `checks.disk.command[1]`. */
export const pathText = (path: Path): string =>
  path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`))
    .join("")
