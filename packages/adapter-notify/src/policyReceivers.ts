import process from "node:process"
import type { FieldProblem } from "@tocsin/contract/describeIssue"
import type { NotifierName } from "@tocsin/contract/Status"
import type { PolicyDocument, Receiver } from "@tocsin/contract/PolicyDocument"
import type { Ids } from "@tocsin/core/ports/Ids"
import type { Notifier } from "@tocsin/core/ports/Notifiers"
import { Effect, Redacted, Result, type Scope } from "effect"
import { alertRouter } from "./alertrouter/alertRouter.ts"
import type { BadNotifierSetting } from "./BadNotifierSetting.ts"
import { email } from "./email/email.ts"
import { debug } from "./debug/debug.ts"
import { messengerSlack, messengerTelegram } from "./messenger/messenger.ts"
import { MAX_SECRET_BYTES, readBoundedFile } from "./readBoundedFile.ts"
import { serviceNotifier } from "./services/serviceNotifier.ts"
import { webhook, type ReceiverPosting } from "./webhook/webhook.ts"

/** The names of secrets in receivers, without `_file` or `_env`. */
const SECRETS = ["url", "secret", "telegram_token", "token", "user", "routing_key", "key"] as const
type SecretName = (typeof SECRETS)[number]

/** The secrets of one receiver, and what keeps them from being read. */
export type ReceiverSecrets = Partial<Record<SecretName, Redacted.Redacted>>

/**
 * Makes the notifiers of a policy's receivers: reads the files and variables that they name. Fails
 * with every problem, which repeat neither a path nor a secret.
 */
export const policyReceivers = Effect.fnUntraced(function* (
  receivers: NonNullable<PolicyDocument["receivers"]>,
  posting: ReceiverPosting,
): Effect.fn.Return<ReadonlyMap<NotifierName, Notifier>, ReadonlyArray<FieldProblem>, Scope.Scope | Ids> {
  const made = new Map<NotifierName, Notifier>()
  const problems: Array<FieldProblem> = []
  for (const [name, receiver] of Object.entries(receivers)) {
    const secrets = secretsOf(receiver)
    const notifier: Result.Result<Notifier, ReadonlyArray<FieldProblem>> = Result.isFailure(secrets)
      ? Result.fail(secrets.failure)
      : yield* Effect.result(
          Effect.mapError(makeReceiver(receiver, secrets.success, posting), settingProblem(receiver)),
        )
    if (Result.isSuccess(notifier)) made.set(name, notifier.success)
    else
      problems.push(
        ...notifier.failure.map(({ message, path }) => ({ message, path: ["receivers", name, ...path] })),
      )
  }
  return problems.length === 0 ? made : yield* Effect.fail(problems)
})

/** A key of a receiver that says where a secret is. */
const SECRET_KEY = new RegExp(`^(?<name>${SECRETS.join("|")})_(?<from>file|env)$`, "u")

const secretsOf = (receiver: Receiver): Result.Result<ReceiverSecrets, ReadonlyArray<FieldProblem>> => {
  const secrets: ReceiverSecrets = {}
  const problems: Array<FieldProblem> = []
  for (const [key, place] of Object.entries(receiver)) {
    const { name, from } = SECRET_KEY.exec(key)?.groups ?? {}
    if (name === undefined || typeof place !== "string") continue
    const read = from === "env" ? readVariable(place) : readFile(place)
    // The pattern admits these names only.
    if (Result.isSuccess(read)) secrets[name as SecretName] = Redacted.make(read.success)
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

const readFile = (path: string): Result.Result<string, string> => {
  const read = Result.try(() => readBoundedFile(path, MAX_SECRET_BYTES))
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
  posting: ReceiverPosting,
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
        return email({ ...posting, ...receiver, from: receiver.from ?? "", to: receiver.to ?? [], url })
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
  const { room = "", stream = "", topic = "", user: bot = "" } = receiver.kind === "messenger" ? receiver : {}
  return Redacted.make({
    token: Redacted.value(token),
    user: Redacted.value(user) || bot,
    key: Redacted.value(key),
    routing_key: Redacted.value(routing_key),
    room,
    stream,
    topic,
  })
}

const KEY_OF: Readonly<Record<BadNotifierSetting["setting"], string>> = {
  url: "url",
  secrets: "secret",
  token: "telegram_token",
  chat: "telegram_chat",
  apiUrl: "url",
  user: "user",
  key: "key",
  routing_key: "routing_key",
}

/** The problem of a setting, at the key of the receiver that gives it. */
const settingProblem =
  (receiver: Receiver) =>
  ({ setting, message }: BadNotifierSetting): ReadonlyArray<FieldProblem> => {
    const key = Object.keys(receiver).find((one) => one.startsWith(KEY_OF[setting])) ?? KEY_OF[setting]
    return [{ message: setting === "chat" ? message : `names a value that ${message}`, path: [key] }]
  }
