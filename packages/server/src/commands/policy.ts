import process from "node:process"
import { sha256 } from "@tocsin/adapter-crypto/NodeHashing"
import * as RandomIds from "@tocsin/adapter-crypto/RandomIds"
import { unavailableBy } from "@tocsin/adapter-notify/policyReceivers"
import { secretProblems } from "@tocsin/adapter-notify/receiverSecrets"
import { completeReceivers } from "@tocsin/contract/receivers/mailServer"
import { storedNameOf } from "@tocsin/contract/receivers/ReceiverSecrets"
import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import type { FiringCount } from "@tocsin/contract/policy/Policies"
import { NotifierKind } from "@tocsin/contract/formats/Status"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import { countFirings } from "@tocsin/core/heart/evaluation/evaluateIncidents"
import { compileGiven, type PolicyNotifiers } from "@tocsin/core/heart/policy/compilePolicy"
import type { PolicyVersionRecord } from "@tocsin/core/heart/model/PolicyVersionRecord"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Layer, Option, Record, Result, Schedule } from "effect"
import { Argument, Flag } from "effect/cli"
import { failure, notFound, refusal } from "../CommandFailure.ts"
import { requireStorage } from "../storage.ts"
import { Output, writeResult } from "../output/Output.ts"
import { type Column, linesText, plural, tableText, timeText } from "../output/texts.ts"
import { fileWarnings, issueLines, readPolicyFile, readPolicyFileText } from "../policy/loadPolicy.ts"
import { policySource, presentPolicy } from "../policy/policySource.ts"
import { policyNotifiers } from "../rules.ts"
import { commandSettings } from "../settings/checkedSettings.ts"
import * as flags from "./flags.ts"
import { judgedReceivers } from "../features/receivers/judgedReceivers.ts"
import { liveReceivers } from "../features/receivers/liveReceivers.ts"
import { unusableText } from "./doctor/replicaFindings.ts"
import { testPolicy } from "../features/trial/policyTest.ts"
import { settingsOfCommand, storageOfCommand } from "./UseCases.ts"
import { standardInput } from "./standardInput.ts"
import { tryPolicy } from "../features/trial/policyTry.ts"
import { findLostUnder } from "@tocsin/core/lists/findLostUnder"
import { listLinesUnder } from "@tocsin/core/lists/PolicyLines"
import { Policies } from "@tocsin/core/lists/Policies"
import { actOn, command, group } from "./define.ts"

const firingsText = (firings: ReadonlyArray<FiringCount>): string =>
  firings.map(({ count, receiver }) => `${receiver} gets ${plural(count, "firing")} immediately\n`).join("")

const NO_RULES = "{}"

// Servers look for another policy every 3 s.
const LOOKS = { schedule: Schedule.spaced("250 millis"), times: 24 }

/** How the running servers follow the policy with a hash, once all do, or after 6 s. */
const followersOf = ({ followers }: Policies["Service"], hash: string) =>
  Effect.repeat(followers(hash), { until: ({ others }) => others === 0, ...LOOKS })

type Followers = Effect.Success<ReturnType<Policies["Service"]["followers"]>>

/** Which of its receivers running servers can use, and a line if some do not follow it. */
const followersText = ({ following, others, unusable }: Followers): string =>
  [
    ...unusable.map(unusableText),
    ...(unusable.length > 0
      ? []
      : following > 0
        ? [`${plural(following, "running server")} can use all of its receivers`]
        : others === 0
          ? ["no server runs that could be asked which of its receivers it can use"]
          : []),
    ...(others === 0
      ? []
      : [`${plural(others, "running server")} did not follow it within 6 s: see GET /ops/v1/policy`]),
  ]
    .map((line) => `${line}\n`)
    .join("")

/** The text of a file, or of standard input for `-`. */
export const policyFileText = (file: string) =>
  Effect.mapError(file === "-" ? standardInput : readPolicyFileText(file), () =>
    failure(`${file} cannot be read: check that it exists, is readable and has at most 1 MiB`),
  )

const apply = actOn(Policies.layer)({
  name: "apply",
  description:
    "Store a policy, which every server without SERVICE_POLICY_FILE puts in force within 5 s. It may name only\n" +
    "  files of the folder SERVICE_SECRETS_DIR, and variables that begin with TOCSIN_SECRET_",
  short: "Apply a policy on every server",
  examples: ["tocsin policy apply policy.yaml"],
  parameters: {
    file: flags.argument("FILE", "A policy in YAML or JSON; - reads standard input"),
    replaces: flags
      .text("if-match", "Replace only the policy with this hash (default: whichever is in force)")
      .pipe(Flag.withMetavar("HASH")),
    confirm: flags.flag(
      "confirm",
      "Let a receiver get more than 100 firings immediately, or be one that no server can use",
    ),
  },
  reads: ({ file }) => policyFileText(file),
})(function* (text, { confirm, replaces }) {
  const policies = yield* Policies
  const former = yield* policies.version()
  const stored = yield* policies
    .apply(text, { confirm, replaces })
    .pipe(Effect.catchTag("AnotherPolicy", ({ message }) => Effect.fail(refusal(message))))
  const { firings, hash, version, warnings = [] } = stored
  const followers = yield* followersOf(policies, hash)
  const unheard = followers.unusable.find(({ byNone }) => byNone)
  if (unheard !== undefined && confirm !== true) {
    // Only servers that follow it know what they can read.
    const restoring = policies.apply(former?.text ?? NO_RULES, { confirm: true, replaces: hash })
    const isRestored = former?.version !== version && Result.isSuccess(yield* Effect.result(restoring))
    return yield* refusal(
      `${unusableText(unheard)}: give a server its secrets, or confirm the policy with --confirm; ${isRestored ? "the former policy is in force again" : `version ${version} is in force`}`,
    )
  }
  return {
    answer: {
      ...stored,
      unavailable: followers.unusable.map(({ reason, receiver }) => ({ receiver, reason })),
    },
    text: `version ${version} (${hash}) is in force on every server within 5 s\n${firingsText(firings)}${followersText(followers)}`,
    note: warnings.map(({ message, path }) => `warning: ${path} ${message}\n`).join(""),
  }
})

const get = actOn(Policies.layer)({
  name: "get",
  description: "Write a stored policy, as it was applied. To go back to an earlier one, apply it again",
  short: "Write the stored policy",
  examples: ["tocsin policy get", "tocsin policy get 7 | tocsin policy apply -"],
  parameters: {
    version: Argument.Int("VERSION").pipe(
      Argument.withDescription("Its version (default: the newest)"),
      Argument.optional,
    ),
  },
})(function* ({ version }) {
  const { version: read } = yield* Policies
  const found = yield* read(Option.getOrUndefined(version))
  if (found !== undefined) return { answer: found, text: found.text }
  return yield* notFound(
    (yield* read()) === undefined
      ? "no policy is stored: apply one with tocsin policy apply FILE"
      : "no such version is stored: list them with tocsin policy versions",
  )
})

const VERSIONS: ReadonlyArray<Column<Omit<PolicyVersionRecord, "text">>> = [
  { title: "VERSION", cell: ({ version }) => String(version), align: "right" },
  { title: "APPLIED", cell: ({ applied_at }) => timeText(applied_at) },
  { title: "BY", cell: ({ applied_by }) => applied_by },
  { title: "HASH", cell: ({ hash }) => hash },
]

const versions = actOn(Policies.layer)({
  name: "versions",
  description: "List the last 100 stored policies, the newest first, which is in force",
  short: "List the stored policies",
  parameters: {},
})(function* () {
  const { items } = yield* Policies.use((policies) => policies.versions())
  return { answer: { items }, text: tableText(VERSIONS, items, yield* Output) }
})

/**
 * The receivers of a policy that defines none, those that live servers give included; invalid settings leave all kinds
 * possible.
 */
const knownNotifiers = Effect.gen(function* (): Effect.fn.Return<PolicyNotifiers> {
  const settings = commandSettings(process.env)
  if (Result.isFailure(settings)) return { notifiers: NotifierKind.literals, keepsNotifiers: false }
  const elsewhere = yield* Effect.orElseSucceed(liveReceivers(settings.success), () => [])
  return { ...policyNotifiers(settings.success), elsewhere }
})

/** The firings that a policy would send immediately, and its warnings, by a database of the settings. */
const effectsOf = Effect.fnUntraced(function* (document: PolicyDocument, known: PolicyNotifiers) {
  const settings = yield* settingsOfCommand
  yield* requireStorage(settings)
  const policy = compileGiven(document, known)
  const options = { policy: () => policy, staleAfter: settings.SERVICE_STALE_AFTER }
  return yield* Effect.provide(
    Effect.gen(function* () {
      const [storage, commits] = [yield* Storage, yield* Commits]
      const firings = yield* countFirings(storage, commits, options)
      // A file that cannot be read changes nothing that is known.
      const present = yield* Effect.orElseSucceed(presentPolicy(settings, storage), () => document)
      const before = compileGiven(present, known)
      const { lines, warnings } = yield* listLinesUnder(storage, commits, sha256)(document)
      return {
        firings,
        lines,
        lost: [...(yield* findLostUnder(storage, commits)(policy, before)), ...warnings],
      }
    }),
    Layer.merge(storageOfCommand(settings), RandomIds.layer),
  ).pipe(Effect.scoped)
})

type Effects = Effect.Success<ReturnType<typeof effectsOf>>

/** A policy without the receivers whose secrets are stored: these are judged where they are. */
const withoutStored = (policy: PolicyDocument): PolicyDocument => {
  const mailing = completeReceivers(policy)
  const isKept = (name: string) => mailing[name] !== undefined && storedNameOf(mailing[name]) === undefined
  const { receivers } = policy
  return { ...policy, ...(receivers && { receivers: Record.filter(receivers, (_, name) => isKept(name)) }) }
}

/**
 * Reads a policy as servers with the settings would: as their file, or by `apply`, which takes fewer secrets.
 * Where the settings have neither a file nor a folder of secrets, it may be either.
 */
const readAsGiven = Effect.fnUntraced(
  function* (file: string, known: PolicyNotifiers) {
    const asFile = yield* Effect.result(readPolicyFile(file, known))
    const settings = Result.getOrUndefined(commandSettings(process.env))
    const source = settings && (yield* policySource(settings))
    const policy = Result.isSuccess(asFile) ? asFile.success : {}
    const unavailable = unavailableBy(secretProblems(policy), policy)
    if (source?.source !== "stored") return { read: asFile, refusal: [], unavailable }
    const applied = yield* Effect.result(
      Effect.flatMap(readPolicyFileText(file), (text) => source.read(text, known.elsewhere ?? [])),
    )
    if (settings?.SERVICE_SECRETS_DIR === undefined)
      return { read: asFile, refusal: Result.isFailure(applied) ? applied.failure : [], unavailable }
    const lacking = Result.isSuccess(applied)
      ? yield* source.unavailable(withoutStored(applied.success), new Map())
      : unavailable
    return { read: applied, refusal: [], unavailable: lacking }
  },
  (effect) => Effect.scoped(Effect.provide(effect, RandomIds.layer)),
)

const check = command({
  name: "check",
  description:
    "Check a policy, and name its problems by line and path; correcting some may show others. Of a valid one,\n" +
    "  count the firings that each receiver would get immediately and list the checks of each line of its public\n" +
    "  pages, if the settings name a database, and name the receivers that the running server cannot use; without one,\n" +
    "  those whose secrets this shell cannot read",
  short: "Check a policy",
  parameters: { file: flags.argument("FILE", "A policy in YAML or JSON"), json: flags.json },
  run: Effect.fnUntraced(function* ({ file, json }) {
    const known = yield* knownNotifiers
    const { read, refusal: refused, unavailable } = yield* readAsGiven(file, known)
    const found = yield* fileWarnings(file, known)
    const warnings = found.map((one) => ({ ...one, path: fieldPath(one.path) }))
    const { note } = yield* Output
    const warn = (some: typeof warnings) =>
      Effect.forEach(some, ({ message, path }) => note(`warning: ${file}: ${path} ${message}\n`))
    if (Result.isSuccess(read)) {
      const counted = yield* Effect.result(effectsOf(read.success, known))
      const { firings, lines, lost = [] } = Result.getOrElse(counted, () => ({}) as Partial<Effects>)
      const all = [...warnings, ...lost]
      const judged = yield* judgedReceivers(file, read.success, unavailable)
      yield* writeResult(
        json,
        {
          issues: [],
          warnings: all,
          ...(firings && { firings }),
          ...(lines && { lines }),
          ...(judged.unavailable && { unavailable: judged.unavailable }),
        },
        () => `${file} is valid\n${firingsText(firings ?? [])}${linesText(lines)}`,
      )
      yield* warn(all)
      if (Result.isFailure(counted)) yield* note(`firings are not counted: ${counted.failure.message}\n`)
      for (const line of issueLines(file, refused))
        yield* note(`tocsin policy apply would refuse it: ${line}\n`)
      if (judged.text !== "") yield* note(judged.text)
      return
    }
    const issues = read.failure
    const lines = issueLines(file, issues)
    yield* writeResult(json, { issues, warnings }, () => lines.map((line) => `${line}\n`).join(""))
    yield* warn(warnings)
    return yield* failure(`${file} is not a valid policy`)
  }),
})

export const policy = group({
  name: "policy",
  description: "Check, test, try or apply a policy: receivers, routes and maintenance windows",
  commands: [check, testPolicy, tryPolicy, apply, get, versions],
})
