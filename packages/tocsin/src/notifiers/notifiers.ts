import { mailTimeout, type PostingOptions, sendTimeout } from "@tocsin/adapter-notify/http/HttpPost"
import { parseTarget, type TargetPolicy } from "@tocsin/adapter-notify/http/Target"
import { messengerTelegram } from "@tocsin/adapter-notify/messenger/messenger"
import { makeReceiver } from "@tocsin/adapter-notify/policyReceivers"
import { parseSecrets } from "@tocsin/adapter-notify/webhook/webhook"
import { asGiven, type Complain, group, type Reader, type Readers } from "@tocsin/client/options/readers"
import { unknownOptions } from "@tocsin/contract/formats/nearestName"
import { type NotifierKind, NotifierName } from "@tocsin/contract/formats/Status"
import type { Ids } from "@tocsin/core/kernel/ports/Ids"
import { type Notifier, Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { defaultDelivery } from "@tocsin/core/heart/usecases/Delivery"
import { Duration, Effect, Layer, Redacted, Result, Schema, type Scope } from "effect"
import { TocsinError } from "../TocsinError.ts"
import { type CustomNotifier, runCustomNotifier } from "./CustomNotifier.ts"
import { isMaskable } from "./maskSecrets.ts"

/**
 * A notifier of Tocsin, of the function `factory`. It holds no effect, so that `tocsin/effect` makes it with
 * another copy of Effect. A function keeps secrets out of logs.
 */
export interface BuiltInNotifier {
  /** Names it in the outbox, once in each monitor. */
  readonly name: string
  /** The function that made it. */
  readonly factory: "webhook" | "slack" | "telegram" | "alertRouter" | "debug"
  /** For the monitor: its options. */
  readonly options: () => object
}

/** A receiver of notifications: a notifier of Tocsin, or your own object. */
export type NotifierOption = BuiltInNotifier | CustomNotifier

interface Named {
  /** Replaces the name of its kind, if a monitor has two of one kind. See `CustomNotifier.name`. */
  readonly name?: string | undefined
}

interface Factory<Options> {
  readonly kind: NotifierKind
  readonly readers: (policy: TargetPolicy) => Readers<Options>
  readonly make: (
    options: Options,
    posting: PostingOptions,
  ) => Effect.Effect<Notifier, Effect.Error<ReturnType<typeof makeReceiver>>, Scope.Scope | Ids>
}

const builtIn =
  <Options extends object>(name: BuiltInNotifier["factory"]) =>
  (options: Options): BuiltInNotifier => ({
    name: Object(options).name ?? factories[name].kind,
    factory: name,
    options: () => Object(options),
  })

const address =
  (policy: TargetPolicy): Reader<string> =>
  (name, given, complain) => {
    const target = parseTarget(Redacted.make(String(given)), policy)
    return Result.isSuccess(target) ? given : complain(`${name} ${target.failure}`)
  }

const credential =
  (expected: string): Reader<string> =>
  (name, given, complain) =>
    typeof given === "string" && /^[\x21-\x7e]+$/.test(given)
      ? given
      : complain(`${name} must be ${expected}`)

const signingSecret: Reader<string | ReadonlyArray<string>> = (name, given, complain) => {
  const secrets = [given].flat().map((one) => Redacted.make(typeof one === "string" ? one : ""))
  const parsed = parseSecrets(secrets)
  return Result.isSuccess(parsed) ? given : complain(`${name} ${parsed.failure}`)
}

/** Posts JSON to any address, signed as Standard Webhooks. */
export interface WebhookOptions extends Named {
  readonly url: string
  /** `whsec_` and base64; several while you replace one. */
  readonly secret: string | ReadonlyArray<string>
}

/**
 * Posts each notification as JSON, signed per Standard Webhooks. The body is described in
 * docs/notifications.md.
 *
 * @example
 * ```ts
 * webhook({ url: "https://example.org/hook", secret: process.env.WEBHOOK_SECRET ?? "" })
 * ```
 */
export const webhook: (options: WebhookOptions) => BuiltInNotifier = builtIn<WebhookOptions>("webhook")

/** An incoming webhook of Slack, or of a messenger that takes the same. */
export interface SlackOptions extends Named {
  /** Its path is a credential, and is never shown or logged. */
  readonly url: string
}

/** Writes to a channel of Slack, Mattermost or another messenger that takes Slack's incoming webhooks. */
export const slack: (options: SlackOptions) => BuiltInNotifier = builtIn<SlackOptions>("slack")

/** A bot and a chat of Telegram. */
export interface TelegramOptions extends Named {
  /** As BotFather gave it. */
  readonly token: string
  /** Id of a chat, or `@name` of a public channel. */
  readonly chat: string
  /** Base address of your own Bot API server. */
  readonly apiUrl?: string | undefined
}

/** Writes to a chat as a Telegram bot. */
export const telegram: (options: TelegramOptions) => BuiltInNotifier = builtIn<TelegramOptions>("telegram")

/** Where a Prometheus Alertmanager is. */
export interface AlertRouterOptions {
  /** Its base address. */
  readonly url: string
}

/** Posts alerts to a Prometheus Alertmanager, again every minute while an incident is open. */
export const alertRouter: (options: AlertRouterOptions) => BuiltInNotifier =
  builtIn<AlertRouterOptions>("alertRouter")

/** Logs one line for each notification instead of sending it. */
export const debug = (): BuiltInNotifier => builtIn("debug")({})

interface OptionsOf {
  readonly webhook: WebhookOptions
  readonly slack: SlackOptions
  readonly telegram: TelegramOptions
  readonly alertRouter: AlertRouterOptions
  readonly debug: object
}

const factories: { readonly [Name in keyof OptionsOf]: Factory<OptionsOf[Name]> } = {
  webhook: {
    kind: "webhook",
    readers: (policy) => ({ url: address(policy), secret: signingSecret, name: asGiven() }),
    make: ({ secret, url }, posting) => {
      const secrets = { url: Redacted.make(url), secret: Redacted.make([secret].flat().join(" ")) }
      return makeReceiver({ kind: "webhook" }, secrets, posting)
    },
  },
  slack: {
    kind: "messenger",
    readers: (policy) => ({ url: address(policy), name: asGiven() }),
    make: ({ url }, posting) => makeReceiver({ kind: "messenger" }, { url: Redacted.make(url) }, posting),
  },
  telegram: {
    kind: "messenger",
    readers: (policy) => ({
      token: credential("the token that BotFather gave, without spaces"),
      chat: credential("the id of a chat, or @ and the name of a channel"),
      apiUrl: (name, given, complain) =>
        given === undefined ? given : address(policy)(name, given, complain),
      name: asGiven(),
    }),
    make: (options, posting) =>
      messengerTelegram({
        ...posting,
        token: Redacted.make(options.token),
        chat: options.chat,
        apiUrl: options.apiUrl === undefined ? undefined : Redacted.make(options.apiUrl),
      }),
  },
  alertRouter: {
    kind: "alert_router",
    readers: (policy) => ({ url: address(policy) }),
    make: ({ url }, posting) => makeReceiver({ kind: "alert_router" }, { url: Redacted.make(url) }, posting),
  },
  debug: {
    kind: "debug",
    readers: () => ({}),
    make: (_, posting) => makeReceiver({ kind: "debug" }, {}, posting),
  },
}

// JavaScript callers can pass anything: `readers` find it out before `make` gets it.
const factoryOf = (name: BuiltInNotifier["factory"]) => factories[name] as Factory<object>

/** Whether a program gave the result of `webhook`, `slack`, `telegram`, `alertRouter` or `debug`. */
const isBuiltIn = (given: object): given is BuiltInNotifier =>
  "factory" in given && Object.hasOwn(factories, String(given.factory))

/** Reports problems of a notifier's options at `path`. */
const checkBuiltIn =
  ({ factory, options }: BuiltInNotifier, policy: TargetPolicy) =>
  (path: string, complain: Complain): void =>
    void group()(factoryOf(factory).readers(policy))(path, options(), complain)

/** Makes a notifier when the monitor starts, once {@link checkBuiltIn} found no problem. */
const makeBuiltIn = ({ factory, name, options }: BuiltInNotifier, posting: PostingOptions) =>
  Effect.map(factoryOf(factory).make(options(), posting), (notifier): Notifier => ({
    ...notifier,
    kind: name,
  }))

/** The notifiers of a monitor. Fails with code `options` and all problems. */
export const notifiersLayer = (
  options: ReadonlyArray<NotifierOption>,
  posting: PostingOptions,
): Layer.Layer<Notifiers, TocsinError<"options">, Ids> =>
  Layer.effect(
    Notifiers,
    Effect.gen(function* () {
      const problems = notifierProblems(options, posting)
      if (problems.length > 0) return yield* Effect.fail(new TocsinError("options", problems.join("\n")))
      const made = yield* Effect.forEach(options, (option) =>
        isBuiltIn(option)
          ? Effect.orDie(makeBuiltIn(option, posting))
          : Effect.succeed(runCustomNotifier(option, posting)),
      )
      return new Map(made.map((notifier) => [notifier.kind, notifier]))
    }),
  )

const isNotifierName = Schema.is(NotifierName)

/** The problems of notifiers, each with a path such as `notifiers[0].url`. They repeat no secret. */
export const notifierProblems = (given: unknown, policy: TargetPolicy): ReadonlyArray<string> => {
  if (!Array.isArray(given)) return ["notifiers must be an array"]
  const problems: Array<string> = []
  const complain = (problem: string) => void problems.push(problem)
  const named = new Map<string, string>()
  for (const [index, notifier] of given.entries()) {
    const path = `notifiers[${index}]`
    for (const problem of unknownFields(path, notifier)) complain(problem)
    if (!isNotifier(notifier)) {
      complain(`${path} must be webhook(…), slack(…), … or an object { name, send }`)
      continue
    }
    const call = isBuiltIn(notifier) ? `${path} ${notifier.factory}(…)` : path
    if (isBuiltIn(notifier)) checkBuiltIn(notifier, policy)(path, complain)
    else if (!areSecrets(notifier.secrets))
      complain(`${path}.secrets must be an array of texts, each of 8 characters or more`)
    else if (notifier.test !== undefined && typeof notifier.test !== "function")
      complain(`${path}.test must be a function, or absent`)
    const { name } = notifier
    const other = named.get(name)
    if (!isNotifierName(name))
      complain(`${path}.name must be 1 to 64 lower-case letters, digits or _, and begin with a letter`)
    else if (name === "alert_router" && !isBuiltIn(notifier))
      complain(`${path}.name must not be alert_router, which is the name of alertRouter(…) alone`)
    else if (other !== undefined)
      complain(`${call} has the same name as ${other}; give one of them another by its option name`)
    named.set(name, call)
  }
  return problems
}

const FIELDS = ["name", "secrets", "send", "test"]

/** Of a plain object: an instance of a class may have a state in its fields. */
const unknownFields = (path: string, given: unknown): ReadonlyArray<string> =>
  Object.getPrototypeOf(Object(given)) === Object.prototype && !isBuiltIn(Object(given))
    ? unknownOptions(`${path}.`, given, FIELDS)
    : []

const areSecrets = (given: unknown): boolean =>
  given === undefined || (Array.isArray(given) && given.every(isMaskable))

const isNotifier = (notifier: unknown): notifier is NotifierOption => {
  const { name, send } = Object(notifier)
  return typeof name === "string" && (typeof send === "function" || isBuiltIn(Object(notifier)))
}

/**
 * The port Notifiers on Tocsin's notifiers and your own, as `createMonitor` takes them. Attempts
 * end before `lease`, which is the delivery's.
 */
export const notifiers = (
  options: ReadonlyArray<NotifierOption>,
  {
    denyPrivateTargets = false,
    lease = defaultDelivery.lease,
  }: {
    readonly denyPrivateTargets?: boolean
    readonly lease?: Duration.Input
  } = {},
): Layer.Layer<Notifiers, TocsinError<"options">, Ids> =>
  notifiersLayer(options, {
    denyPrivateTargets,
    timeout: sendTimeout(Duration.fromInputUnsafe(lease)),
    mailTimeout: mailTimeout(Duration.fromInputUnsafe(lease)),
  })
