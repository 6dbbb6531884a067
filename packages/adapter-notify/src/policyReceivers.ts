import { createHash } from "node:crypto"
import { type FieldProblem, fieldPath } from "@tocsin/contract/formats/describeIssue"
import { loadWords } from "@tocsin/contract/languages/Languages"
import { storedNameOf } from "@tocsin/contract/receivers/ReceiverSecrets"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { atMail, needsMailServer, withServer } from "@tocsin/contract/receivers/mailServer"
import type { Receiver } from "@tocsin/contract/receivers/Receiver"
import { NO_MAIL_SERVER } from "@tocsin/core/heart/policy/receiverProblems"
import type { Ids } from "@tocsin/core/kernel/ports/Ids"
import type { Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { Effect, Exit, Redacted, Result, Scope } from "effect"
import type { BadNotifierSetting, PostingOptions } from "./http/HttpPost.ts"
import { debug } from "./debug/debug.ts"
import { type LostPart, loadPart } from "./loadPart.ts"
import { browser } from "./push/browser.ts"
import { ofReceiver, readSecrets, type ReceiverSecrets, type SecretPlaces } from "./receiverSecrets.ts"

const SHOWN = 3

/** Three characters of a mail address and its domain. */
const mailHint = (address: string): string => {
  const at = address.lastIndexOf("@")
  return at === -1 ? "" : `${address.slice(0, Math.min(SHOWN, at))}…${address.slice(at)}`
}

/** Enough of where a receiver sends for people to tell it from others; nothing of a path, where secrets are. */
export const addressHint = (receiver: Receiver, { url }: ReceiverSecrets): string | undefined => {
  const to = receiver.kind === "messenger" && receiver.type === "email" ? [receiver.to ?? []].flat() : []
  const [first, ...others] = to
  if (first !== undefined)
    return `${mailHint(first)}${others.length === 0 ? "" : ` and ${others.length} more`}`
  if (url === undefined) return undefined
  const read = Result.try(() => new URL(Redacted.value(url)).host)
  return Result.isSuccess(read) && read.success !== "" ? read.success : undefined
}

/**
 * Makes the notifiers of a policy's receivers, with the secrets that they name. People who store secrets need no
 * access to the server, so theirs do not lead to the loopback unless `mayReachLoopback`.
 */
export const policyReceivers = Effect.fnUntraced(function* (
  receivers: NonNullable<PolicyDocument["receivers"]>,
  posting: PostingOptions,
  { mayReachLoopback = false, ...places }: SecretPlaces & { readonly mayReachLoopback?: boolean } = {},
) {
  const made = new Map<NotifierName, Notifier>()
  const problems: Array<FieldProblem> = []
  for (const [name, written] of Object.entries(receivers)) {
    const { receiver, secrets } = completed(written, posting, places)
    const denyLoopback = storedNameOf(receiver) !== undefined && !mayReachLoopback
    const notifier: Result.Result<Notifier, ReadonlyArray<FieldProblem>> = Result.isFailure(secrets)
      ? Result.fail(secrets.failure)
      : yield* Effect.result(
          Effect.mapError(
            makeReceiver(receiver, secrets.success, { ...posting, denyLoopback }),
            settingProblem(receiver),
          ),
        )
    if (Result.isSuccess(notifier)) {
      const hint = Result.isSuccess(secrets) ? addressHint(receiver, secrets.success) : undefined
      const mark = Result.isSuccess(secrets) ? markOf(secrets.success) : ""
      const known = { ...notifier.success, mark, ...(hint !== undefined && { hint }) }
      made.set(name, receiver.shadow === true ? shadowOf(known) : known)
    } else problems.push(...notifier.failure.map(ofReceiver(name)))
  }
  return { made, problems }
})

/** A digest of secrets, which leaves this process only under a key. */
const markOf = (secrets: ReceiverSecrets): string => {
  const hash = createHash("sha256")
  for (const [name, value] of Object.entries(secrets))
    hash.update(`${name} ${value === undefined ? "" : Redacted.value(value)}\n`)
  return hash.digest("base64")
}

/** A receiver with its secrets, or those of the mail server of the settings where it states none. */
const completed = (
  written: Receiver,
  { mailServer }: Pick<PostingOptions, "mailServer">,
  places: SecretPlaces,
): { readonly receiver: Receiver; readonly secrets: ReturnType<typeof readSecrets> } => {
  const receiver = mailServer === undefined ? written : withServer(written, { from: mailServer.from })
  if (!needsMailServer(receiver)) return { receiver, secrets: readSecrets(receiver, places) }
  const secrets =
    mailServer === undefined
      ? Result.fail([{ message: NO_MAIL_SERVER, path: [] }])
      : Result.succeed({ url: mailServer.url })
  return { receiver, secrets }
}

/** Why receivers cannot be used, by name: their problems have it in their paths. */
export const unavailableBy = (
  problems: ReadonlyArray<FieldProblem>,
  policy: Pick<PolicyDocument, "mail" | "receivers"> = {},
): ReadonlyMap<NotifierName, string> => {
  const unavailable = new Map<NotifierName, string>()
  for (const each of problems) {
    const { message, path } = each
    const problem = atMail(policy, [each])
      .map((stated) => `${fieldPath(stated.path)} ${message}`)
      .join()
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
const shadowOf = ({ browsersOf, hint, kind, mark, sendDigest, sendReport, test }: Notifier): Notifier => ({
  kind,
  ...(hint !== undefined && { hint }),
  ...(mark !== undefined && { mark }),
  ...(browsersOf && { browsersOf: { ...browsersOf, isShadow: true } }),
  send: () => SHADOW,
  ...(sendDigest !== undefined && { sendDigest: () => SHADOW }),
  ...(sendReport !== undefined && { sendReport: () => SHADOW }),
  test,
})

const NONE = Redacted.make("")

const kinds = {
  alertRouter: () => import("./alertrouter/alertRouter.ts"),
  email: () => import("./email/email.ts"),
  messenger: () => import("./messenger/messenger.ts"),
  serviceNotifier: () => import("./services/serviceNotifier.ts"),
  webhook: () => import("./webhook/webhook.ts"),
}

/** Loads each kind, for a program that gets other policies while an upgrade may replace its files. */
export const loadKinds = loadPart(() => Promise.all(Object.values(kinds).map((load) => load())))

/**
 * Makes the notifier of a receiver's definition, which was checked: what it needs is there. Each kind is loaded by the
 * first receiver that has it, since most commands and servers have few.
 */
export const makeReceiver = Effect.fnUntraced(function* (
  receiver: Receiver,
  secrets: ReceiverSecrets,
  posting: PostingOptions,
): Effect.fn.Return<Notifier, BadNotifierSetting | LostPart, Scope.Scope | Ids> {
  const language = "lang" in receiver ? receiver.lang : undefined
  if (language !== undefined) yield* loadPart(() => loadWords([language]))
  const { url = NONE, secret = NONE, telegram_token = NONE } = secrets
  const type = "type" in receiver ? receiver.type : undefined
  if (type === "browser")
    return "operator" in receiver ? browser(receiver.operator ?? "", receiver.lang) : browser("")
  if (receiver.kind !== "webhook" && receiver.kind !== "debug" && type !== undefined && type !== "email") {
    const { serviceNotifier } = yield* loadPart(kinds.serviceNotifier)
    return yield* serviceNotifier({ ...posting, type, url: secrets.url, keys: keysOf(receiver, secrets) })
  }
  switch (receiver.kind) {
    case "webhook": {
      const signing = Redacted.value(secret)
        .split(/[\s,]+/u)
        .map((one) => Redacted.make(one))
      const { webhook } = yield* loadPart(kinds.webhook)
      return yield* webhook({ ...posting, url, secrets: signing })
    }
    case "messenger": {
      if (receiver.type === "email") {
        const { from = "", to = [] } = receiver
        const { email } = yield* loadPart(kinds.email)
        return yield* email({ ...posting, ...receiver, from, to: [to].flat(), url })
      }
      const { lang, telegram_chat: chat } = receiver
      const { messengerSlack, messengerTelegram } = yield* loadPart(kinds.messenger)
      return chat === undefined
        ? yield* messengerSlack({ ...posting, url, lang })
        : yield* messengerTelegram({ ...posting, token: telegram_token, chat, lang })
    }
    case "alert_router": {
      const { alertRouter } = yield* loadPart(kinds.alertRouter)
      return yield* alertRouter({ ...posting, url })
    }
    case "debug":
      return debug
  }
})

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
  (problem: BadNotifierSetting | LostPart): ReadonlyArray<FieldProblem> => {
    if (problem._tag === "LostPart") return [{ message: problem.message, path: [] }]
    const { setting, message } = problem
    if (storedNameOf(receiver) !== undefined)
      return [{ message: `names secrets of which ${setting} ${message}`, path: ["secrets"] }]
    const beginning = KEY_OF[setting] ?? new RegExp(`^${setting}`)
    const key = Object.keys(receiver).find((one) => beginning.test(one)) ?? setting
    return [{ message: setting === "chat" ? message : `names a value that ${message}`, path: [key] }]
  }
