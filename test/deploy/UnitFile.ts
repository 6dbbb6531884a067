import { readFileSync } from "node:fs"

/**
 * A systemd file: the values of each name, in order, by section. An empty value resets those before
 * it.
 */
export type UnitFile = Readonly<Record<string, Readonly<Record<string, ReadonlyArray<string>>>>>

/** Reads a unit or a drop-in. Throws for a line that is not a section, a setting or a comment. */
export const readUnit = (path: string): UnitFile => {
  const sections: Record<string, Record<string, Array<string>>> = {}
  let section: Record<string, Array<string>> | undefined
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line === "" || line.startsWith("#")) continue
    const [, title] = /^\[(\w+)\]$/.exec(line) ?? []
    if (title !== undefined) {
      section = sections[title] ??= {}
      continue
    }
    const [, name = "", value = ""] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (section === undefined || name === "") throw new Error(`${path}: what is this? ${line}`)
    section[name] = [...(section[name] ?? []), value]
  }
  return sections
}

/** The variables that a unit sets. */
export const environmentOf = (unit: UnitFile): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (unit["Service"]?.["Environment"] ?? []).flatMap((line) =>
      line.split(" ").map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
    ),
  )
