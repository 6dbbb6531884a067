import { checksText } from "../config/readConfig.ts"
import { problemText } from "../config/Reader.ts"
import { convertNrpe } from "../import/convertNrpe.ts"
import { complain, print, readOptions, UsageError } from "./commandLine.ts"

/** The exit code where something was not converted. */
const INCOMPLETE = 1

/** `tocsin-agent import FILE`: prints the checks of an nrpe.cfg, and complains about what it leaves out. */
export const importNrpe = async (argv: ReadonlyArray<string>): Promise<number> => {
  const [file, extra] = readOptions(argv).args
  if (file === undefined) throw new UsageError("name the file: tocsin-agent import /etc/nagios/nrpe.cfg")
  if (extra !== undefined) throw new UsageError(`${extra} is not expected here`)
  const { defaults, checks, problems } = convertNrpe(file)
  const { stringify } = await import("yaml")
  const document = {
    defaults,
    checks: Object.fromEntries(checks),
  }
  print(
    `# ${checksText(checks.size)} of ${file}. Set the address of your Tocsin server.\nserver: https://monitor.example`,
  )
  print(stringify(document, { lineWidth: 0 }).trimEnd())
  for (const problem of problems) complain(problemText(problem))
  return problems.length > 0 ? INCOMPLETE : 0
}
