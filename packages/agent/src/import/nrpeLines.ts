import { readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { Problem } from "../config/Problem.ts"

/** A setting of an nrpe.cfg: `name=value`, or `command[name]=value`. */
export interface NrpeLine {
  readonly file: string
  readonly line: number
  readonly name: string
  /** The text in brackets. */
  readonly key: string | undefined
  readonly value: string
}

/** Every setting of a file and of what it includes, in order, and what could not be read. */
export interface NrpeLines {
  readonly lines: ReadonlyArray<NrpeLine>
  readonly problems: ReadonlyArray<Problem>
}

const MAX_DEPTH = 16
const SETTING = /^([A-Za-z_]+)(?:\[([^\]]*)\])?\s*=\s*(.*)$/

/** Reads an nrpe.cfg as NRPE does: `include` names a file, `include_dir` a folder of `*.cfg`. */
export const nrpeLines = (file: string): NrpeLines => {
  const lines: Array<NrpeLine> = []
  const problems: Array<Problem> = []
  const seen = new Set<string>()
  const walk = (
    path: string,
    from: { readonly file: string; readonly line: number },
    depth: number,
  ): void => {
    const absolute = resolve(path)
    if (seen.has(absolute)) return
    if (depth > MAX_DEPTH) return void problems.push({ ...from, path: "", message: "includes too deeply" })
    seen.add(absolute)
    const text = readOr(absolute, (message) => problems.push({ ...from, path: "", message }))
    for (const [at, written] of joined(text ?? "")) {
      const place = { file: path, line: at }
      const [, name = "", key, value = ""] = SETTING.exec(written) ?? []
      if (name === "") problems.push({ ...place, path: "", message: "is no setting: expected name=value" })
      else if (name === "include" || name === "include_file")
        walk(resolve(dirname(absolute), value), place, depth + 1)
      else if (name === "include_dir")
        for (const one of configsBelow(resolve(dirname(absolute), value), place, problems))
          walk(one, place, depth + 1)
      else lines.push({ ...place, name, key, value })
    }
  }
  walk(file, { file, line: 1 }, 0)
  return { lines, problems }
}

/** Lines without comments and empty ones; a backslash at the end continues a line. */
const joined = (text: string): ReadonlyArray<readonly [line: number, text: string]> => {
  const found: Array<readonly [number, string]> = []
  let begun: { readonly line: number; readonly text: string } | undefined
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line: string = (begun?.text ?? "") + raw.trim()
    const at = begun?.line ?? index + 1
    begun = undefined
    if (line === "" || line.startsWith("#")) continue
    if (line.endsWith("\\")) begun = { line: at, text: `${line.slice(0, -1)} ` }
    else found.push([at, line])
  }
  return begun === undefined ? found : [...found, [begun.line, begun.text.trim()]]
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error)

const readOr = (path: string, refuse: (message: string) => void): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    refuse(`${path} cannot be read (${codeOf(error)})`)
    return undefined
  }
}

const configsBelow = (
  folder: string,
  place: { readonly file: string; readonly line: number },
  problems: Array<Problem>,
): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
      .toSorted()
      .flatMap((name) => {
        const path = join(folder, name)
        if (statSync(path).isDirectory()) return configsBelow(path, place, problems)
        return name.endsWith(".cfg") ? [path] : []
      })
  } catch (error) {
    problems.push({ ...place, path: "", message: `${folder} cannot be read (${codeOf(error)})` })
    return []
  }
}
