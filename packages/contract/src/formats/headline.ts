import { isPerformance } from "./performanceWords.ts"

/** Ends of a failed program's output that do not say why it failed: the program, the version that was seen, and the lines. */
const CLOSINGS: ReadonlyArray<readonly [program: string, line: RegExp]> = [
  ["apt 2.6", /^(?:[EW]: Some index files failed to download\.|E: Sub-process \/usr\/bin\/dpkg returned )/u],
  ["Ansible", /\bunreachable=\d+ +failed=\d+/u],
  ["borgmatic 1.7", /^Command '.+' returned non-zero exit status \d+\.$/u],
  ["borgmatic 1.7", /^Need some help\? https:\/\/torsion\.org\/borgmatic/u],
  ["Cargo", /^error: could not compile .+ due to /u],
  ["certbot 2.1", /^\d+ renew failure\(s\), \d+ parse failure\(s\)$/u],
  ["certbot 2.1", /^Ask for help or search for solutions at https:\/\/community\.letsencrypt\.org/u],
  [
    "dpkg 1.21",
    /^(?:Errors were encountered while processing:| .+ subprocess returned error exit status \d+$)/u,
  ],
  ["git 2.39", /^(?:Please make sure you have the correct access rights|and the repository exists\.)$/u],
  ["git 2.39", /^(?:hint: |error: failed to push some refs to )/u],
  ["GNU Make 4.3", /^make(?:\[\d+\])?: (?:\*\*\* |Leaving directory |Target .* not remade)/u],
  ["GCC 12", /^(?:compilation terminated\.|collect2: error: ld returned )/u],
  [
    "GNU tar 1.34",
    /^tar(?: \(child\))?: (?:Exiting with failure status due to previous errors|Error is not recoverable: exiting now|Child returned status \d+)$/u,
  ],
  ["Gradle", /^(?:BUILD FAILED in |> (?:Run with|Get more help) )/u],
  [
    "Maven",
    /^\[ERROR\](?:\s*$| (?:-> )?\[Help \d\]| (?:To see the full|Re-run Maven|For more information) )/u,
  ],
  ["mount 2.38", /^\s+dmesg\(1\) may have more information/u],
  ["nginx 1.22", /^nginx: configuration file .+ test failed$/u],
  [
    "Node.js 20 to 24",
    /^(?:Node\.js v\d+\.|\(Use `node --trace-|\s+at .+(?::\d+:\d+|<anonymous>|native)\)?$|\s*[{}^]+\s*$|\s+(?:errno|code|syscall|path|address|port): )/u,
  ],
  [
    "npm 11",
    /^npm (?:error|ERR!)(?: \w+)?$|^npm (?:error|ERR!) (?:A complete log of this run|To see a list of scripts| {2}npm run$|enoent This is related to|Lifecycle script|(?:path|errno|command|workspace|location) )/u,
  ],
  [
    "npm 10 and 11",
    /^npm (?:error|ERR!)(?: [{}]$| {3,}(?:at |\w+: )|(?: network)? (?:This is a problem related|In most cases you are|If you are behind a proxy|'proxy' config is))/u,
  ],
  ["npm 11", /^npm (?:notice|warn|WARN)\b/u],
  ["OpenJDK 17", /^(?:error: compilation failed|\d+ errors?)$/u],
  [
    "Perl 5.36",
    /^(?:BEGIN failed--compilation aborted|Compilation failed in require|Execution of .+ aborted due to compilation errors)/u,
  ],
  ["pnpm 10", /^\s*(?:ELIFECYCLE {2}Command failed|WARN {3})/u],
  ["pg_dump 15", /^\s+Is the server running /u],
  [
    "restic 0.14",
    /^(?:Is there a repository at the following location\?|Warning: at least one source file could not be read)$/u,
  ],
  [
    "rsnapshot 1.4",
    /^ERROR: (?:-+$|Errors were found in |rsnapshot can not continue\.|sure you don't have spaces )/u,
  ],
  ["rsync 3.5", /^(?:rsync error: .+ \(code \d+\) at |sent [\d,.]+ bytes {2}received |total size is )/u],
  ["Rust", /^(?:note: (?:run with `?RUST_BACKTRACE=|Some details are omitted)|\s+\d+: \S+::)/u],
  [
    "vzdump of Proxmox VE 7",
    /^(?:INFO: (?:Failed at |Backup job finished with errors)|(?:TASK ERROR: )?job errors$)/u,
  ],
  ["Yarn 1.22", /^(?:error Command failed with exit code \d+\.|info Visit https:\/\/yarnpkg\.com\/)/u],
]

/** Whether a line closes the output of a known program without saying why it failed. */
const isClosing = (line: string): boolean => CLOSINGS.some(([, closing]) => closing.test(line))

/** Words by which a line of any program names an error. */
const ERROR =
  /(?<!\b(?:0|no) )\berrors\b|\b(?:error|errno|fatal|panic|exception|fail(?:ed|ure|s)?|cannot|can't|couldn't|could not|unable|denied|refused|unreachable|aborted|killed|invalid|missing|no such|not (?:found|permitted|exist|allowed|supported|in \S+ format)|undefined (?:reference|symbol)|rejected|does not exist|timed out|timeout|no space|out of memory)\b|\w(?:Error|Exception)\b|^E: /iu

const namesError = (line: string): boolean => ERROR.test(line)

/** Sequences that colour a text, move the cursor or set a title on a terminal (ECMA-48), also without their end. */
const SEQUENCES =
  // oxlint-disable-next-line eslint/no-control-regex -- the sequences begin with them
  /\u001b[\]PX^_][^\u0007\u001b\r\n]*(?:\u0007|\u001b\\)|\u001b\[[0-?]*[ -/]*[@-~]?|\u001b[\]PX^_][\d;]*|\u001b[ -/]*[0-~]?|\u009b[0-?]*[@-~]/gu

/** A text without the sequences by which programs colour it on a terminal. */
export const withoutSequences = (text: string): string => text.replace(SEQUENCES, "")

/** Stands for bytes of an output that were cut. */
export const markerOf = (bytes: number): string => `...[truncated ${bytes} bytes]`

const MARKER = /\.\.\.\[truncated \d+ bytes\]$/u

/**
 * The longest part of an output that leaves the system, in characters (docs/rules.md#incidents,
 * docs/rules.md#notifiers).
 */
const MOST_CHARACTERS = 512

/** UTF-16 units of a character. */
const MOST_UNITS = 2

/** The beginning of a line, at most 512 characters. */
const shortened = (line: string): string =>
  // Most lines are also short in UTF-16 units, and need no splitting into code points.
  line.length <= MOST_CHARACTERS
    ? line
    : // Splits no more than it keeps: a batch can contain a megabyte of output.
      Array.from(line.slice(0, MOST_CHARACTERS * MOST_UNITS))
        .slice(0, MOST_CHARACTERS)
        .join("")

/** A line of an output without its performance data. */
export const withoutPerformance = (line: string): string => {
  const said = line.replace(MARKER, "")
  const bar = said.indexOf("|")
  if (bar < 0) return line
  // Before the marker, the last word may be half a number.
  return isPerformance(said.slice(bar + 1), said !== line) ? said.slice(0, bar).trimEnd() : line
}

/** A character that people can see. Controls and formats, such as a zero-width space, leave a line blank. */
export const VISIBLE = /[^\s\p{Cc}\p{Cf}]/u

const wordsOf = (text: string): string =>
  withoutPerformance(withoutSequences(text).trim()).replace(MARKER, "").trim()

/** An output that begins with the place where a program in Python or Node.js failed, or with a drawn line. */
const OPENING =
  /^(?:Traceback \(most recent call last\):|During handling of .+ exception occurred:|File ".+", line \d+|(?:node:\S+|\S+\.[cm]?[jt]s):\d+|([-=*_#~+])\1{2,})$/u
const REASON = /error|exception|fail|could not/iu
/** As Python joins the tracebacks of two errors, and Node.js ends: behind the fields of an error stands a bracket. */
const NO_REASON = /:$|^(?:Node\.js v|\s|[^\p{L}\p{N}]*$)/u

/**
 * An output in one line of at most 512 characters: the first that is not blank, without terminal sequences,
 * performance data and the marker of what was cut. A carriage return ends a line. Behind a traceback or a drawn line,
 * it is the last line that names an error or follows a place in a program, or else the first.
 */
export const headlineOf = (output: string | undefined): string | undefined => {
  let said: string | undefined
  let reason: string | undefined
  let before: string | undefined
  for (const [line] of (output ?? "").matchAll(/[^\r\n]+/gu)) {
    const words = wordsOf(line)
    if (!VISIBLE.test(words)) continue
    if (!OPENING.test(words)) {
      if (before === undefined) return shortened(words)
      said ??= words
      if ((/^\s/u.test(before) || REASON.test(words)) && !NO_REASON.test(line)) reason = words
    }
    before = line
  }
  const headline = reason ?? said ?? before?.trim()
  return headline && shortened(headline)
}

/** A reason stands near the end; an error far above it was overcome. */
const SEARCHED_LINES = 40

/** The line that says why a job failed: before the words with which known programs close, else the last that names an error. */
const reasonIn = (lines: ReadonlyArray<string>): string | undefined => {
  const last = lines.at(-1)
  const open = lines.slice(0, lines.findLastIndex((line) => !isClosing(line)) + 1)
  const reason = open.findLast((line) => namesError(line) && !isClosing(line))
  if (reason !== undefined || last === undefined) return reason
  return namesError(last) ? last : (open.at(-1) ?? last)
}

/** The headline of a job that failed: how it ended, and why, by the end of its output. */
export const failureHeadline = (end: string, output: string): string => {
  const lines = withoutSequences(output)
    .split(/[\r\n]/u)
    .filter((line) => VISIBLE.test(withoutPerformance(line)))
  const reason = reasonIn(lines.slice(-SEARCHED_LINES))
  return shortened(reason === undefined ? end : `${end}: ${reason.trim()}`)
}

const JOB_END = /^(?:exit \d+|failed|ended by \w+|timed out after [\d.]+ s)(?=: |$)/u
const ONLY_MARKER = new RegExp(`^${MARKER.source}`, "u")

/** Whether an output is that of a job, of which the end counts: its headline comes first, or the marker of what was cut. */
export const isJobOutput = (output: string): boolean => {
  const [first = "", ...rest] = output.split("\n")
  const end = JOB_END.exec(first)?.[0]
  if (end === undefined) return ONLY_MARKER.test(first)
  const said = rest.join("\n")
  // Its line may be cut off, or be the last one, which earlier versions took.
  return (
    ONLY_MARKER.test(rest[0] ?? "") ||
    failureHeadline(end, said) === first ||
    withoutSequences(said)
      .split(/[\r\n]/u)
      .some((line) => shortened(`${end}: ${line.trim()}`) === first)
  )
}
