import { globSync, readFileSync } from "node:fs"
import { messagesIn } from "./messagesIn.ts"

/** The packages of the server, its commands and the API; the libraries have pages of their own. */
const PACKAGES = "{contract,core,server,simulation,adapter-http,adapter-notify,adapter-sqlite,adapter-pg}"

/** Everything that the source says to people. */
export const messages = globSync(`packages/${PACKAGES}/src/**/*.ts`)
  // Examples of messages in the API documents, the code that writes messages to the log, and requests to
  // services with a field of that name.
  .filter(
    (file) =>
      !/^packages\/(adapter-http\/src\/(?:documents\/|features\/\w+\/\w+Operations\.ts)|server\/src\/logging\.ts|adapter-notify\/src\/services\/(?!serviceNotifier)|core\/src\/kernel\/engine\/entryText\.ts)/.test(
        file,
      ),
  )
  .toSorted()
  .flatMap(messagesIn)

/** Why a message is on no page: no person reads it. */
export const NOT_ON_PAGE: Readonly<Record<string, string>> = {
  "the receiver answered 404": "an example of an answer in the API documents",
  "A parameter could not be written, or a column could not be read":
    "the cause of another message, in the log",
  "Pass the digits as text": "a defect",
  "The transaction was rolled back: a statement in it had failed, and its error was caught":
    "the cause of another message, in the log",
  "The agent was registered meanwhile": "the decision is made again",
  "A command of a group needs a separate transaction": "it gets one",
  "origins such as https://dashboard.example, or * alone": "the page lists it as the value of the setting",
  "origins such as https://dashboard.example, or * alone; …": "the page lists it as the value of the setting",
  "Message updated": "a paging service's sender reads it",
  "Event processed": "a paging service's sender reads it",
  "Change event processed": "a paging service's sender reads it",
  "the storage took too long": "the page lists its reason",
  "the storage failed unexpectedly": "the page lists its reason",
}

/** Expressions that pass on a message of another place, or are not messages. */
export const PASSED_ON: ReadonlySet<string> = new Set([
  // A parameter, or a field of one.
  "message",
  "error.message",
  "failure?.message",
  "cause.message",
  "complaint",
  "result.message",
  "edited.message",
  "answer.message",
  "applied.message",
  "refusal",
  "problem",
  "problem.message",
  "source.advice",
  "ANOTHER",
  "NO_KEY",
  "NO_MAIL_SERVER",
  "TOO_MANY",
  "unreadable(problem)",
  'authenticationMessage(cause instanceof Error ? cause.message : "")',
  "end.failure",
  "watchdog.text",
  "messageOf(seconds)",
  // The reason that a server gives.
  "`${waits}: ${reason}`",
  'message.replace(PLACE, "parameters")',
  'describeIssue(declared.failure, "the parameters")',
  "parsed.failure",
  // Reasons why no browser gets notifications, which say what to set.
  "invalid",
  "key.failure",
  "host.failure",
  "walls.message",
  'settings.failure.listedUnder("Tocsin cannot start with these settings (see --help):")',
  "startMessage(failure.value)",
  "withoutSecrets(finding.message)",
  // Of a probe's options, as the agent's configuration states them.
  "read.problem",
  "`${problem.path[0]} ${problem.message}`",
  "`${id}: ${message}`",
  "`match ${problem}`",
  "`${name} ${target.failure}`",
  "`${fieldPath(problem.path)} ${problem.message}`",
  // Problems of a policy, which name what was read.
  "read.failure",
  "opened.failure",
  "syntaxMessage(code, message)",
  // Faults of a request: their words are in `elsewhere`.
  'describeIssue(issue, "the request body")',
  'describeIssue(issue, "the parameters")',
  "predicate(issue, ofCheck)",
  "describe(error.cause.issue, yield* HttpServerRequest.ParsedSearchParams)",
  "NAMELESS_MESSAGE",
  "TIME_ZONE_RULE",
  "`labels ${TOO_MANY_LABELS}`",
  "`events ${BATCH_SIZE_RULE}`",
  "`checks ${DECLARATION_SIZE_RULE}`",
  '`${fieldPath(["checks", index, ...path])} ${message}`',
  // A defect's own words.
  '`${statement.name} wrote ${String(answer?.["written"])} of ${rows.length} rows`',
  // Functions of the same names that take something else.
  "error",
  "methodsOf(url)",
])

interface Elsewhere {
  readonly file: string
  readonly wording: string
  /** How it stands in the file. */
  readonly code: string
}

/** Messages raised by means that {@link messages} does not see through. */
const elsewhere: ReadonlyArray<Elsewhere> = [
  ...[
    ["… is missing", '"is missing"'],
    ["… is not a known field", '"is not a known field"'],
    ["… is not valid", '"is not valid"'],
    ["… must be …", "`must be ${expected}`"],
  ].map(([wording = "", code = ""]) => ({
    file: "packages/contract/src/formats/describeIssue.ts",
    wording,
    code,
  })),
  ...[
    ["email/mailWords.ts", "The mail server answered ….", "`The mail server answered ${codes}"],
    ["email/mailResult.ts", "No mail yet for …. ….", "`No mail yet for ${"],
    ["email/mailResult.ts", "The mail server refused ….", "`The mail server refused ${"],
    [
      "email/mailResult.ts",
      "The mail server cannot address …: it lacks SMTPUTF8.",
      "`The mail server cannot address ${",
    ],
  ].map(([file = "", wording = "", code = ""]) => ({
    file: `packages/adapter-notify/src/${file}`,
    wording,
    code,
  })),
  {
    file: "packages/adapter-notify/src/http/Target.ts",
    wording:
      "… leads to the server's own machine: start the server with SERVICE_WATCH_LOOPBACK=true to allow it; what the console's Settings allow is for watches alone",
    code: "leads to the server's own machine: start the server with SERVICE_WATCH_LOOPBACK=true to allow it; what the console's Settings allow is for watches alone",
  },
  {
    file: "packages/server/src/extensions/unhandled.ts",
    wording: "an extension ended this process (…): remove its process.exit",
    code: "an extension ended this process (${plainLine(frame.trim())}): remove its process.exit",
  },
  ...[
    "is a link-local or metadata address, which no watch may reach",
    "is not public, and SERVICE_DENY_PRIVATE_TARGETS is set",
    "leads to the server's own machine: allow probes that only read in Settings of the console, or by tocsin settings set watch_loopback true; for others, start the server with SERVICE_WATCH_LOOPBACK=true to allow it",
    "leads to the server's own machine: start the server with SERVICE_WATCH_LOOPBACK=true to allow it",
  ].map((words) => ({
    file: "packages/server/src/features/watches/watchTargets.ts",
    wording: `… ${words}`,
    code: `"${words}"`,
  })),
  ...[
    ["the storage does not answer (…)", "`the storage does not answer (${readFailure})`"],
    ["the storage refuses writes (…)", "`the storage refuses writes (${writeFailure})`"],
    ["… has not delivered a notification for …", "has not delivered a notification for ${"],
    ["… failed to deliver a notification … ago", " failed to deliver a notification ${"],
  ].map(([wording = "", code = ""]) => ({
    file: "packages/core/src/heart/health/HealthExamination.ts",
    wording,
    code,
  })),
  ...[
    ["… has an alias (*): write the value again", '"has an alias (*): write the value again"'],
    ["… has an anchor (&): remove it", '"has an anchor (&): remove it"'],
    ["… has a tag (!): remove it", '"has a tag (!): remove it"'],
    ["… must be one document", '"must be one document"'],
    ["… is nested too deeply", '"is nested too deeply"'],
    ["… is not valid YAML: …", "`is not valid YAML: ${"],
  ].map(([wording = "", code = ""]) => ({
    file: "packages/adapter-http/src/policy/readPolicyText.ts",
    wording,
    code,
  })),
  {
    file: "packages/server/src/policy/loadPolicy.ts",
    wording: "the policy file is not valid (see docs/policy.md):",
    code: '"the policy file is not valid (see docs/policy.md):"',
  },
  {
    file: "packages/contract/src/formats/durationMillis.ts",
    wording: "… must be a duration such as 90s, 8h or 7d, from … to …",
    code: "`a duration such as 90s, 8h or 7d, from ${durationText(min)} to ${durationText(max)}`",
  },
  {
    file: "packages/contract/src/v1/decodeRequest.ts",
    wording:
      "the request body must contain at most … values; send at most 200 events, 32 labels and 1000 checks",
    code: "`the request body must contain at most ${MAX_VALUES} values; send at most 200 events, 32 labels and 1000 checks`",
  },
  {
    file: "packages/contract/src/v1/decodeRequest.ts",
    wording: "the request body must contain at most 50000 values; send fewer alerts in a request",
    code: "`the request body must contain at most ${MAX_SENDER_VALUES} values; send fewer alerts in a request`",
  },
  {
    file: "packages/server/src/commands/policy.ts",
    wording: "… did not follow it within 6 s: see GET /ops/v1/policy",
    code: '`${plural(others, "running server")} did not follow it within 6 s: see GET /ops/v1/policy`',
  },
  {
    file: "packages/server/src/commands/policy.ts",
    wording: "tocsin policy apply would refuse it: …",
    code: "`tocsin policy apply would refuse it: ${line}",
  },
  {
    file: "packages/server/src/commands/doctor/replicaFindings.ts",
    wording: "… cannot use the receiver …: …",
    code: '`${plural(replicas, "server")} cannot use the receiver ${receiver}: ${reason}`',
  },
  {
    file: "packages/server/src/commands/doctor/replicaFindings.ts",
    wording: "no running server can use the receiver …: …",
    code: "`no running server can use the receiver ${receiver}: ${reason}`",
  },
  {
    file: "packages/adapter-http/src/request/authentication.ts",
    wording: "… must be given only once",
    code: "`${name} must be given only once`",
  },
  {
    file: "packages/server/src/policy/policySource.ts",
    wording:
      "SERVICE_POLICY_FILE is set, so that file decides on the policy: change it and send SIGHUP, or unset it",
    code: '"SERVICE_POLICY_FILE is set, so that file decides on the policy: change it and send SIGHUP, or unset it"',
  },
  {
    file: "packages/core/src/heart/usecases/PolicySource.ts",
    wording: "the program that contains this Tocsin decides on its policy: use its setPolicy",
    code: '"the program that contains this Tocsin decides on its policy: use its setPolicy"',
  },
  {
    file: "packages/core/src/heart/usecases/followStoredPolicy.ts",
    wording:
      "this version of Tocsin cannot read the stored policy (…): run the version that stored it, or apply another policy with it",
    code: "`this version of Tocsin cannot read the stored policy (${problem}): run the version that stored it, or apply another policy with it`",
  },
  {
    file: "packages/core/src/heart/usecases/Watchdog.ts",
    wording: "Tocsin is not well: ….",
    code: "`Tocsin is not well: ${",
  },
  ...[
    ["serve.ts", "Tocsin cannot start with these settings (see --help):"],
    ["settings/checkedSettings.ts", "these settings are not valid (see tocsin serve --help):"],
  ].map(([file = "", wording = ""]) => ({
    file: `packages/server/src/${file}`,
    wording,
    code: `"${wording}"`,
  })),
]

/** Entries of {@link elsewhere} that are not where they should be. */
export const misplaced = elsewhere.filter(({ file, code }) => !readFileSync(file, "utf8").includes(code))

/** Every message that a person can read, in the wording of the page. */
export const wordings: ReadonlySet<string> = new Set(
  [...messages.flatMap((message) => message.wordings), ...elsewhere.map(({ wording }) => wording)].filter(
    (wording) => !(wording in NOT_ON_PAGE),
  ),
)
