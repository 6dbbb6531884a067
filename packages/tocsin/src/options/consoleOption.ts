import type { ConsoleFiles } from "@tocsin/adapter-http/pages/PageRoutes"
import { checked, group, type Reader, text } from "@tocsin/client/options/readers"

const textsByName = checked<Readonly<Record<string, string>>>(
  (given) => Object.values(Object(given)).every((each) => typeof each === "string"),
  "texts by their names",
)

/** Reads the option `console`: the files of the page of operators. */
export const consoleOf: Reader<ConsoleFiles, ConsoleFiles> = (name, given, complain) => {
  if (given === undefined) return undefined
  const read = group<ConsoleFiles>()({
    script: text,
    style: text,
    scripts: textsByName,
    pages: textsByName,
    worker: text,
    icons: textsByName,
  })
  const { script, style, scripts, pages, worker, icons } = read(name, Object(given), complain) ?? {}
  return script !== undefined && style !== undefined
    ? {
        script,
        style,
        ...(scripts && { scripts }),
        ...(pages && { pages }),
        ...(worker && { worker }),
        ...(icons && { icons }),
      }
    : complain(`${name} must be the files that consoleFiles() of tocsin/console resolves with`)
}
