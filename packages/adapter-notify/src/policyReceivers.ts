import { closeSync, constants, openSync, readSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { type FieldProblem, fieldPath } from "@tocsin/contract/describeIssue"
import type { NotifierName } from "@tocsin/contract/Status"
import type { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import type { Receiver } from "@tocsin/contract/Receiver"
import type { Ids } from "@tocsin/core/ports/Ids"
import type { Notifier } from "@tocsin/core/ports/Notifiers"
import { Effect, Exit, Redacted, Result, Scope } from "effect"
import { alertRouter } from "./alertrouter/alertRouter.ts"
import type { BadNotifierSetting, PostingOptions } from "./http/HttpPost.ts"
import { email } from "./email/email.ts"
import { debug } from "./debug/debug.ts"
import { messengerSlack, messengerTelegram } from "./messenger/messenger.ts"
import { serviceNotifier } from "./services/serviceNotifier.ts"
import { webhook } from "./webhook/webhook.ts"

/** The names of secrets in receivers, without `_file` or `_env`. */
const SECRETS = ["url", "secret", "telegram_token", "token", "user", "routing_key", "key"] as const
type SecretName = (typeof SECRETS)[number]

export type ReceiverSecrets = { [Name in SecretName]?: Redacted.Redacted | undefined }

/** The folder of the only files that a policy may name; none if the path is absent. */
export interface SecretsFolder {
  readonly path: string | undefined
}

/**
 * Makes the notifiers of a policy's receivers: reads the files and variables that they name, files of one folder
 * if it is given. Problems repeat neither a path nor a secret.
 */
export const policyReceivers = Effect.fnUntraced(function* (
  receivers: NonNullable<PolicyDocument["receivers"]>,
  posting: PostingOptions,
  only?: SecretsFolder,
) {
  const made = new Map<NotifierName, Notifier>()
  const problems: Array<FieldProblem> = []
  for (const [name, receiver] of Object.entries(receivers)) {
    const secrets = secretsOf(receiver, only)
    const notifier: Result.Result<Notifier, ReadonlyArray<FieldProblem>> = Result.isFailure(secrets)
      ? Result.fail(secrets.failure)
      : yield* Effect.result(
          Effect.mapError(makeReceiver(receiver, secrets.success, posting), settingProblem(receiver)),
        )
    if (Result.isSuccess(notifier)) {
      made.set(name, receiver.shadow === true ? shadowOf(notifier.success) : notifier.success)
    } else problems.push(...notifier.failure.map(ofReceiver(name)))
  }
  return { made, problems }
})

/** Why receivers cannot be used, by name: their problems have it in their paths. */
export const unavailableBy = (problems: ReadonlyArray<FieldProblem>): ReadonlyMap<NotifierName, string> => {
  const unavailable = new Map<NotifierName, string>()
  for (const { message, path } of problems) {
    const problem = `${fieldPath(path)} ${message}`
    const name = String(path[1])
    const before = unavailable.get(name)
    unavailable.set(name, before === undefined ? problem : `${before}; ${problem}`)
  }
  return unavailable
}

/** Makes the receivers of a policy, unless it is refused for others of its problems, or for theirs that it must not have. */
export const acceptedReceivers = Effect.fnUntraced(function* <E, F = never>(
  {
    accept,
    mayLack,
    receivers,
  }: {
    /** Those of which no problem is known. */
    readonly receivers: NonNullable<PolicyDocument["receivers"]>
    readonly accept: (found: ReadonlyArray<FieldProblem>) => Result.Result<PolicyDocument, E>
    /** Whether it may have receivers that cannot be used here; it may not unless given. */
    readonly mayLack?: (unavailable: ReadonlyMap<NotifierName, string>) => Effect.Effect<boolean, F>
  },
  posting: PostingOptions,
) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const { made, problems } = yield* Effect.provideService(
    policyReceivers(receivers, posting),
    Scope.Scope,
    scope,
  )
  const unavailable = unavailableBy(problems)
  const isBorne = problems.length > 0 && mayLack !== undefined && (yield* mayLack(unavailable))
  const accepted = accept(isBorne ? [] : problems)
  if (Result.isFailure(accepted)) yield* Scope.close(scope, Exit.void)
  return { document: yield* Effect.fromResult(accepted), made, unavailable }
})

const SHADOW = Effect.succeed({ outcome: "shadow" } as const)

/** Sends nothing but tests (docs/rules.md#shadow-receivers). */
const shadowOf = ({ kind, sendDigest, test }: Notifier): Notifier => ({
  kind,
  send: () => SHADOW,
  ...(sendDigest !== undefined && { sendDigest: () => SHADOW }),
  test,
})

/** A key of a receiver that says where a secret is. */
const SECRET_KEY = new RegExp(`^(?<name>${SECRETS.join("|")})_(?<from>file|env)$`, "u")

/** The secrets that a receiver names: the key, the name of the secret, and where it is. */
const namedSecrets = (receiver: Receiver) =>
  Object.entries(receiver).flatMap(([key, place]) => {
    const { name, from } = SECRET_KEY.exec(key)?.groups ?? {}
    // The pattern admits these names only.
    return typeof place === "string" && name !== undefined
      ? [{ key, name: name as SecretName, isVariable: from === "env", place }]
      : []
  })

/** The secrets of a policy's receivers that cannot be read. */
export const secretProblems = (
  receivers: NonNullable<PolicyDocument["receivers"]>,
): ReadonlyArray<FieldProblem> =>
  Object.entries(receivers).flatMap(([name, receiver]) =>
    Result.match(secretsOf(receiver, undefined), {
      onSuccess: () => [],
      onFailure: (problems) => problems.map(ofReceiver(name)),
    }),
  )

const ofReceiver =
  (name: NotifierName) =>
  ({ message, path }: FieldProblem): FieldProblem => ({ message, path: ["receivers", name, ...path] })

/** The secrets that a stored policy must not name, so that applying one reveals nothing of other files. */
export const secretPlaceProblems = (
  receivers: NonNullable<PolicyDocument["receivers"]>,
  isFolderMissing: boolean,
): ReadonlyArray<FieldProblem> =>
  Object.entries(receivers).flatMap(([name, receiver]) =>
    namedSecrets(receiver).flatMap(({ key, isVariable, place }) => {
      const path = ["receivers", name, key]
      if (isVariable) {
        const isOurs = place.startsWith("TOCSIN_SECRET_")
        return isOurs ? [] : [{ message: "must begin with TOCSIN_SECRET_ in a stored policy", path }]
      }
      if (!PLAIN_FILE_NAME.test(place)) {
        return [{ message: "must be the name of a file in SERVICE_SECRETS_DIR, without a folder", path }]
      }
      return isFolderMissing ? [{ message: NO_FOLDER, path }] : []
    }),
  )

const NO_FOLDER = "needs SERVICE_SECRETS_DIR, which is not set; name a variable, or set it"

/** The name of a file directly in a folder. */
const PLAIN_FILE_NAME = /^(?!\.{1,2}$)[^/\\\0]+$/u

const secretsOf = (
  receiver: Receiver,
  only: SecretsFolder | undefined,
): Result.Result<ReceiverSecrets, ReadonlyArray<FieldProblem>> => {
  const secrets: ReceiverSecrets = {}
  const problems: Array<FieldProblem> = []
  for (const { key, name, isVariable, place } of namedSecrets(receiver)) {
    const read = isVariable ? readVariable(place) : readFile(place, only)
    if (Result.isSuccess(read)) secrets[name] = Redacted.make(read.success)
    else problems.push({ message: read.failure, path: [key] })
  }
  return problems.length === 0 ? Result.succeed(secrets) : Result.fail(problems)
}

const readVariable = (name: string): Result.Result<string, string> => {
  const value = process.env[name]?.trim()
  return value === undefined || value === ""
    ? Result.fail("names a variable that is not set")
    : Result.succeed(value)
}

const readFile = (place: string, only: SecretsFolder | undefined): Result.Result<string, string> => {
  if (only !== undefined && only.path === undefined) return Result.fail(NO_FOLDER)
  const path = only?.path === undefined ? place : join(only.path, place)
  const flags = only === undefined ? 0 : constants.O_NOFOLLOW
  const read = Result.try(() => readBoundedFile(path, MAX_SECRET_BYTES, flags))
  if (Result.isFailure(read)) return Result.fail("names a file that cannot be read: check its path and owner")
  if (read.success === undefined) return Result.fail("names a file that is larger than 64 KiB")
  const text = read.success.trim()
  return text === "" ? Result.fail("names an empty file") : Result.succeed(text)
}

const NONE = Redacted.make("")

/** Makes the notifier of a receiver's definition, which was checked: what it needs is there. */
export const makeReceiver = (
  receiver: Receiver,
  secrets: ReceiverSecrets,
  posting: PostingOptions,
): Effect.Effect<Notifier, BadNotifierSetting, Scope.Scope | Ids> => {
  const { url = NONE, secret = NONE, telegram_token = NONE } = secrets
  if ("type" in receiver && receiver.type !== undefined && receiver.type !== "email")
    return serviceNotifier({
      ...posting,
      type: receiver.type,
      url: secrets.url,
      keys: keysOf(receiver, secrets),
    })
  switch (receiver.kind) {
    case "webhook": {
      const signing = Redacted.value(secret)
        .split(/[\s,]+/u)
        .map((one) => Redacted.make(one))
      return webhook({ ...posting, url, secrets: signing })
    }
    case "messenger":
      if (receiver.type === "email")
        return email({
          ...posting,
          ...receiver,
          from: receiver.from ?? "",
          to: [receiver.to ?? []].flat(),
          url,
        })
      return receiver.telegram_chat === undefined
        ? messengerSlack({ ...posting, url })
        : messengerTelegram({ ...posting, token: telegram_token, chat: receiver.telegram_chat })
    case "alert_router":
      return alertRouter({ ...posting, url })
    case "debug":
      return Effect.succeed(debug)
  }
}

/** The keys that services read; empty where a type has none. */
const keysOf = (
  receiver: Extract<Receiver, { readonly kind: "messenger" | "alert_router" }>,
  { key = NONE, routing_key = NONE, token = NONE, user = NONE }: ReceiverSecrets,
) => {
  const { to, user: name = "", ...texts } = receiver.kind === "messenger" ? receiver : {}
  return Redacted.make({
    token: Redacted.value(token),
    user: Redacted.value(user) || name,
    key: Redacted.value(key),
    routing_key: Redacted.value(routing_key),
    // Only mails have several recipients.
    definition: { ...texts, ...(typeof to === "string" && { to }) },
  })
}

/** The beginning of the key of a receiver that gives a setting, where that is not the setting's name. */
const KEY_OF: Partial<Readonly<Record<BadNotifierSetting["setting"], RegExp>>> = {
  secrets: /^secret/,
  token: /^(?:telegram_)?token/,
  chat: /^telegram_chat/,
  apiUrl: /^url/,
}

/** The problem of a setting, at the key of the receiver that gives it. */
const settingProblem =
  (receiver: Receiver) =>
  ({ setting, message }: BadNotifierSetting): ReadonlyArray<FieldProblem> => {
    const beginning = KEY_OF[setting] ?? new RegExp(`^${setting}`)
    const key = Object.keys(receiver).find((one) => beginning.test(one)) ?? setting
    return [{ message: setting === "chat" ? message : `names a value that ${message}`, path: [key] }]
  }

/** No secret is longer, but a device or a log named by mistake may be. */
export const MAX_SECRET_BYTES = 65_536

const PAUSE_MILLIS = 10
/** A pipe whose writer is slower than this fails as the file of a busy device does. */
const MOST_PAUSES = 200

/**
 * Reads a text of at most `most` bytes; `undefined` if the file is larger. Devices and pipes without
 * an end are neither read whole nor waited for. Throws the error of the system if it cannot be read.
 * `flags` add to how it is opened.
 */
export const readBoundedFile = (path: string, most: number, flags = 0): string | undefined => {
  // Opening a pipe without a writer would block otherwise.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags)
  const read = Result.try(() => readBounded(file, most))
  closeSync(file)
  return Result.getOrThrowWith(read, (cause) => cause)
}

const readBounded = (file: number, most: number): string | undefined => {
  const bytes = Buffer.alloc(most + 1)
  let length = 0
  let pauses = 0
  while (length <= most) {
    const read = Result.try(() => readSync(file, bytes, length, bytes.length - length, null))
    if (Result.isFailure(read)) {
      if (!isNotReady(read.failure) || ++pauses > MOST_PAUSES) throw read.failure
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MILLIS)
    } else if (read.success === 0) return bytes.toString("utf8", 0, length)
    else length += read.success
  }
  return undefined
}

const isNotReady = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "EAGAIN"
