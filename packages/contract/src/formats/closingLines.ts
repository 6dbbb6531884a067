/** Ends of a failed program's output that do not say why it failed: the program, the version that was seen, and the lines. */
const CLOSINGS: ReadonlyArray<readonly [program: string, line: RegExp]> = [
  ["apt 2.6", /^[EW]: Some index files failed to download\./u],
  ["Ansible", /\bunreachable=\d+ +failed=\d+/u],
  ["borgmatic 1.7", /^Command '.+' returned non-zero exit status \d+\.$/u],
  ["borgmatic 1.7", /^Need some help\? https:\/\/torsion\.org\/borgmatic/u],
  ["Cargo", /^error: could not compile .+ due to /u],
  ["certbot 2.1", /^\d+ renew failure\(s\), \d+ parse failure\(s\)$/u],
  ["certbot 2.1", /^Ask for help or search for solutions at https:\/\/community\.letsencrypt\.org/u],
  ["git 2.39", /^(?:Please make sure you have the correct access rights|and the repository exists\.)$/u],
  ["git 2.39", /^(?:hint: |error: failed to push some refs to )/u],
  ["GNU Make 4.3", /^make(?:\[\d+\])?: (?:\*\*\* |Leaving directory |Target .* not remade)/u],
  ["GCC 12", /^(?:compilation terminated\.|collect2: error: ld returned )/u],
  [
    "GNU tar 1.34",
    /^tar: (?:Exiting with failure status due to previous errors|Error is not recoverable: exiting now)$/u,
  ],
  ["Gradle", /^(?:BUILD FAILED in |> (?:Run with|Get more help) )/u],
  [
    "Maven",
    /^\[ERROR\](?:\s*$| (?:-> )?\[Help \d\]| (?:To see the full|Re-run Maven|For more information) )/u,
  ],
  [
    "Node.js 20 to 24",
    /^(?:Node\.js v\d+\.|\s+at .+(?::\d+:\d+|<anonymous>|native)\)?$|\s*[{}^]+\s*$|\s+(?:errno|code|syscall|path|address|port): )/u,
  ],
  [
    "npm 11",
    /^npm (?:error|ERR!)(?: \w+)?$|^npm (?:error|ERR!) (?:A complete log of this run|To see a list of scripts| {2}npm run$|enoent This is related to|Lifecycle script|(?:path|errno|command|workspace|location) )/u,
  ],
  ["npm 11", /^npm (?:notice|warn|WARN)\b/u],
  ["pnpm 10", /^\s*(?:ELIFECYCLE {2}Command failed|WARN {3})/u],
  ["pg_dump 15", /^\s+Is the server running /u],
  [
    "restic 0.14",
    /^(?:Is there a repository at the following location\?|Warning: at least one source file could not be read)$/u,
  ],
  ["rsync 3.5", /^(?:rsync error: .+ \(code \d+\) at |sent [\d,.]+ bytes {2}received |total size is )/u],
  ["Rust", /^note: run with `?RUST_BACKTRACE=/u],
  ["Yarn 1.22", /^(?:error Command failed with exit code \d+\.|info Visit https:\/\/yarnpkg\.com\/)/u],
]

/** Whether a line closes the output of a known program without saying why it failed. */
export const isClosing = (line: string): boolean => CLOSINGS.some(([, closing]) => closing.test(line))

/** Words by which a line of any program names an error. */
const ERROR =
  /(?<!\b(?:0|no) )\berrors\b|\b(?:error|errno|fatal|panic|exception|fail(?:ed|ure|s)?|cannot|can't|couldn't|could not|unable|denied|refused|unreachable|aborted|killed|invalid|missing|no such|not (?:found|permitted|exist)|does not exist|timed out|timeout|no space|out of memory)\b|\w(?:Error|Exception)\b|^E: /iu

/** Whether a line names an error. */
export const namesError = (line: string): boolean => ERROR.test(line)
