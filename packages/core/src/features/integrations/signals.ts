import { parseCron } from "@tocsin/contract/formats/CronTimes"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { invalid, type Refusal, type Report, type SenderRequest, unexplained } from "./Report.ts"

/** The end of a run, as a word or a number of its sender states it. */
interface Ended extends Pick<Report, "exit_code" | "otherwise" | "status"> {
  /** How a job ended that failed, for its headline. */
  readonly end: string | undefined
}

/** A run, as a request says it. */
export type Signal = Ended | "start" | "log"

/** Words of senders for the state of a run (docs/rules.md#words-for-a-status). Those of several words have no spaces here. */
const WORDS: Readonly<Record<CheckStatus | "start", string>> = {
  ok: "ok okay up success succeeded successful pass passed good healthy done complete completed finished",
  warning: "warning warn degraded",
  critical:
    "critical crit down fail failed failing failure error errored errors err bad broken ko nok notok fatal panic problem aborted abort cancelled canceled killed crashed dead timeout timedout unhealthy unsuccessful incomplete",
  unknown: "unknown",
  start: "start started run begin inprogress",
}

const SIGNALS = "hup int quit ill trap abrt bus fpe kill segv pipe alrm term xcpu xfsz sys"

/** Words of systemd, Jenkins, GitHub, Kubernetes and others, which mean other things where no parameter names a state. */
const WORDS_OF_STATES = {
  ok: "passing",
  warning:
    "unstable partial partialsuccess actionrequired stale succeededwithissues completedwithwarnings withwarnings warnings",
  critical: `exitcode signal coredump oomkill oomkilled startlimithit watchdog protocol resources ${SIGNALS} ${SIGNALS.replaceAll(/\b(?=\w)/gu, "sig")} startupfailure crashloopbackoff evicted deadlineexceeded partiallyfailed failedvalidation faulted fault stopped terminated interrupted completedwitherrors witherrors rejected denied offline unreachable`,
  unknown: "undefined",
}

/** Of these, what some call every end of a run, or a clean one: bad only where nothing else says how the run ended. */
const ANY_END = /^(?:stopped|terminated|(?:sig)?(?:hup|int|term|pipe))$/u

const meaningsOf = (table: Readonly<Record<string, string>>) =>
  Object.entries(table).flatMap(([meaning, words]) =>
    // The keys are those of the record.
    words.split(" ").map((word) => [word, meaning as CheckStatus | "start"] as const),
  )
const MEANINGS = new Map(meaningsOf(WORDS))
const MEANINGS_OF_STATES = new Map([...MEANINGS, ...meaningsOf(WORDS_OF_STATES)])

/** Names of parameters that state how a run ended: of the values, one as its status, an exit status, or whether it is true. */
const NAMES = new Map(
  Object.entries({
    status: "status state result outcome conclusion health",
    exit: "exitcode exit exitstatus statuscode returncode returnstatus code rc ret s",
    good: "success succeeded successful passed healthy ok up",
    bad: "fail failed failure error errors err down critical",
  } as const).flatMap(([kind, names]) =>
    // The keys are those of the record.
    names.split(" ").map((name) => [name, kind as "status" | "exit" | "good" | "bad"] as const),
  ),
)

const YES = /^(?:1|true|yes|y|on)$/u
const NO = /^(?:0|false|no|n|off|none|null)$/u
const NUMBER = /^(?:-?\d+|0x[\da-f]{1,16})$/iu
const EXIT_STATUS = /^(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/u
const LARGEST_EXIT_STATUS = 255

const plain = (word: string): string => word.toLowerCase().replaceAll(/[^a-z0-9]/gu, "")

export const OK: Ended = { status: "ok", exit_code: 0, end: undefined }

const exitOf = (exit_code: number, end = `exit ${exit_code}`): Ended =>
  exit_code === 0 ? OK : { status: "critical", exit_code, end, otherwise: `exit status ${exit_code}` }

export const FAILED = exitOf(1, "failed")

const meaningOf = (word: string, said = "status", meanings = MEANINGS): Signal | undefined => {
  const meaning = meanings.get(plain(word))
  if (meaning === undefined || meaning === "start") return meaning
  if (meaning === "ok") return OK
  const end = meaning === "critical" ? "failed" : meaning
  return { status: meaning, exit_code: meaning === "unknown" ? 3 : 1, end, ...unexplained(word, said) }
}

/** Whether an exit status says it. */
const isExit = ({ end, exit_code }: Ended): boolean => end === `exit ${exit_code}`

/** The signal of the last segment of a path: those of Healthchecks, and words for how a run ended. */
export const signalOfSegment = (segment: string): Signal | undefined => {
  if (segment === "log") return "log"
  if (segment === "fail") return FAILED
  return EXIT_STATUS.test(segment) ? exitOf(Number(segment)) : meaningOf(segment)
}

/** Whether a signal says that all is well, or nothing of how the run ended. */
export const isGood = (signal: Signal | undefined): boolean =>
  typeof signal !== "object" || signal.status === "ok"

/** A parameter's signal; `"unread"` where its name states how a run ended, and its value is no word for that. */
const signalOfParameter = (name: string, value: string): Signal | "unread" | undefined => {
  const kind = NAMES.get(plain(name))
  const word = value.trim()
  // An address that ends in `?fail`, `?/fail` or `?3`.
  if (word === "" && (kind === undefined || kind === "good" || kind === "bad"))
    return signalOfSegment(name.split("/").findLast((one) => one !== "") ?? "")
  const said = meaningOf(word, name, kind === undefined ? MEANINGS : MEANINGS_OF_STATES)
  if (kind === undefined) return isGood(said) ? undefined : said
  if (word === "" && kind === "status") return undefined
  if (NUMBER.test(word) && (kind === "status" || kind === "exit")) {
    const number = Math.abs(Number(word))
    return exitOf(number <= LARGEST_EXIT_STATUS ? number : number % (LARGEST_EXIT_STATUS + 1) || 1)
  }
  const isTrue = YES.test(plain(word))
  if (kind !== "exit" && (isTrue || NO.test(plain(word))) && isTrue === (kind !== "bad")) return OK
  if (kind === "bad" || NO.test(plain(word))) return { ...FAILED, ...unexplained(word, name) }
  return said ?? "unread"
}

/** Whether a parameter says that a run ended, and nothing of how. */
const saysAnyEnd = (name: string, value: string): boolean =>
  NAMES.get(plain(name)) !== "bad" && ANY_END.test(plain(value))

/** Behind the value of a parameter, a sender may have put another query, or the end of a path. */
const NEXT_PARAMETER = /[?;](?=[a-z_-]+=)/iu
const END_OF_PATH = /(?<![/?;])[/?;]+([a-z]+|\d+)\/*$/iu

/** How a kind takes parameters. */
interface Parameters {
  /** Those behind whose values a path or a query counts. */
  readonly known: ReadonlySet<string>
  /** Those whose values state no status of the run. */
  readonly stateless: ReadonlySet<string>
}

const partsOf = ([given, value]: readonly [string, string], { known }: Parameters) => {
  const name = given.replace(/^amp;/u, "")
  if (!known.has(name)) return [[name, value] as const]
  const [first = "", ...others] = value.split(NEXT_PARAMETER)
  return [
    [name, first] as const,
    ...others.map((text) => {
      const [other = "", ...values] = text.split("=")
      return [other, values.join("=")] as const
    }),
  ]
}

/** A value without the path behind it, if that is a signal. */
const splitPath = (name: string, value: string, isTaken: (signal: Signal) => boolean) => {
  const [tail = "", segment = ""] = END_OF_PATH.exec(value) ?? []
  const signal = signalOfSegment(segment)
  // A step of 1 is the star itself: nobody writes it, but `$?` of a failed run makes it.
  const isSchedule = name === "cron" && segment !== "1" && !("message" in parseCron(value))
  if (signal === undefined || isSchedule || !isTaken(signal)) return { value }
  return { value: value.slice(0, -tail.length), signal }
}

const LONGEST_SHOWN = 40

/** The name of a parameter that is not known, for a message. */
export const shownName = (name: string): string => name.slice(0, LONGEST_SHOWN).replaceAll(/[^\w.-]/gu, "?")

interface Signals {
  /** The parameters without signals behind their values. */
  readonly query: SenderRequest["query"]
  /** The worst of the signals, if there is one. */
  readonly signal: Signal | undefined
  /** Why the state of the run is not known. */
  readonly unread: Refusal | undefined
}

/** Whether a signal says in a word that a run failed. */
const isFailure = (signal: Signal): boolean =>
  typeof signal === "object" && !isGood(signal) && !isExit(signal)

/** Exit statuses that a sender calls warnings, such as `1,3`. */
const STATUSES = /^[1-9]\d{0,2}(?:,[1-9]\d{0,2})*$/u

/** A signal, if exit statuses that its sender calls warnings count as such. */
const withWarnings = (signal: Signal | undefined, warnings: string): Signal | undefined => {
  if (typeof signal !== "object" || !isExit(signal)) return signal
  const isWarning = warnings.split(",").includes(String(signal.exit_code))
  return isWarning ? { ...signal, status: "warning" } : signal
}

const rankOf = (signal: Signal): number =>
  typeof signal === "object" ? ["ok", "-", "warning", "unknown", "critical"].indexOf(signal.status) : 1

/** Reads what a request says of a run, by the end of its path and by its query (docs/rules.md#words-for-a-status). */
export const readSignals = (
  ofPath: Signal | undefined,
  given: SenderRequest["query"],
  { known, stateless }: Parameters,
): Signals => {
  const signals = ofPath === undefined ? [] : [ofPath]
  const ends: Array<Signal> = []
  const query: Array<readonly [name: string, value: string]> = []
  let unread: Refusal | undefined
  const parts = given.flatMap((each) => partsOf(each, { known, stateless }))
  for (const [index, [name, whole]] of parts.entries()) {
    const isStateless = stateless.has(name)
    const isKnown = known.has(name) || NAMES.has(plain(name))
    const isLast = !isStateless && index === parts.length - 1
    const { signal, value } = splitPath(name, whole, (end) => isKnown || (isLast && isFailure(end)))
    const stated = isStateless ? undefined : signalOfParameter(name, value)
    if (signal !== undefined) signals.push(signal)
    if (stated === undefined) query.push([name, value])
    else if (stated !== "unread") (saysAnyEnd(name, value) ? ends : signals).push(stated)
    else
      unread = invalid(
        `the parameter ${shownName(name)} does not say how the run ended: use ok, warning or critical, or exit_code with a number`,
      )
  }
  const warning = Object.fromEntries(query)["warning"]?.replaceAll(" ", "") ?? ""
  if (warning !== "" && !STATUSES.test(warning)) unread = invalid("warning must be exit statuses such as 1,3")
  const said = signals.some((one) => typeof one === "object") ? signals : [...signals, ...ends]
  const signal = said.toSorted((a, b) => rankOf(b) - rankOf(a))[0]
  return { query, signal: withWarnings(signal, warning), unread }
}
