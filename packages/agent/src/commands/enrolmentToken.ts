import { once } from "node:events"
import { createInterface } from "node:readline"

const VARIABLE = "TOCSIN_ENROLMENT_TOKEN"

/** The enrolment token of the environment, which checks do not inherit, or the answer to a prompt. */
export const enrolmentToken = async (isAsked: boolean | undefined): Promise<string | undefined> => {
  const found = process.env[VARIABLE]
  delete process.env[VARIABLE]
  if (isAsked !== true) return found?.trim() || undefined
  process.stderr.write("Enrolment token: ")
  // Without an output, a terminal shows nothing of the line.
  const lines = createInterface({ input: process.stdin, terminal: process.stdin.isTTY === true })
  lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"))
  const [line] = (await Promise.race([once(lines, "line"), once(lines, "close")])) as [string?]
  lines.close()
  process.stderr.write("\n")
  return line?.trim() || undefined
}
