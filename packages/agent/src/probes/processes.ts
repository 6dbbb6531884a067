import { readdir, readFile } from "node:fs/promises"
import { basename } from "node:path"
import { codeOf, record, text } from "../config/Reader.ts"
import { figure, probe } from "./Probe.ts"
import { givenOr, thresholdFields, thresholdsOf } from "./thresholds.ts"
import { pattern, searchTexts, tooSlow } from "./searchTexts.ts"

/** At least one. */
const OWN = thresholdsOf(undefined, "1:")

/** How many processes have a name, or a command line that matches a pattern. */
export const processes = probe(
  { name: "process", lane: "host" },
  record({ name: text({ max: 256 }), pattern, ...thresholdFields }),
  async ({ name, pattern: written, ...limits }) => {
    const all = await runningProcesses()
    const named = all.filter(({ names }) => name === undefined || names.includes(name))
    const lines = named.map(({ line }) => line)
    const matches = written === undefined ? lines.map(() => true) : searchTexts(written, lines)
    if (matches === undefined) throw new Error(tooSlow(written ?? ""))
    const count = matches.filter((isMatch) => isMatch).length
    const wanted = [name, written === undefined ? undefined : `/${written}/`].filter(
      (one) => one !== undefined,
    )
    const words = `${count} ${count === 1 ? "process" : "processes"} ${wanted.join(" ")}`.trim()
    return figure({ label: "processes", value: count, unit: "", thresholds: givenOr(limits, OWN), words })
  },
)

interface RunningProcess {
  /** The kernel's name of the process, and the command line that started it. */
  readonly names: ReadonlyArray<string>
  readonly line: string
}

const HIDDEN =
  "/proc hides the processes of other users (hidepid): add the user of the agent to the group that its option gid names"

const LONGEST_NAME = 15

/** The kernel's name, which it cuts, the program's, and the whole of a name that is cut, such as a script's. */
const namesOf = (name: string, args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const programs = args.map((one) => basename(one))
  // Cut within a character.
  const begun = name.replace(/(?<!\uFFFD)\uFFFD+$/, "")
  const isCut = Buffer.byteLength(name) >= LONGEST_NAME
  return [name, programs[0] ?? "", ...(isCut ? programs.filter((one) => one.startsWith(begun)) : [])]
}

/** The name of a process, which may contain anything, and its state. */
const STAT = /^\d+ \((.*)\) (\w)/s

/** Every process but the agent's own and those that have ended and wait for their parents, as /proc shows them. */
const runningProcesses = async (): Promise<ReadonlyArray<RunningProcess>> => {
  const entries = await readdir("/proc")
  // The first process is another user's, where others are hidden.
  if (!entries.includes("1")) throw new Error(HIDDEN)
  const ids = entries.filter((one) => /^\d+$/.test(one) && Number(one) !== process.pid)
  const found: Array<RunningProcess> = []
  // One after another: a thousand open files at once gain nothing.
  for (const id of ids) {
    try {
      const [, name = "", state] = STAT.exec(await readFile(`/proc/${id}/stat`, "utf8")) ?? []
      if (state === "Z" || state === "X") continue
      const args = (await readFile(`/proc/${id}/cmdline`, "utf8")).split("\0").filter((one) => one !== "")
      found.push({ names: namesOf(name, args), line: args.join(" ") || `[${name}]` })
    } catch (error) {
      // Others have ended meanwhile.
      if (!["ENOENT", "ESRCH"].includes(codeOf(error))) throw new Error(HIDDEN, { cause: error })
    }
  }
  return found
}
