import { Context, Effect, Layer, Redacted, Result } from "effect"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  MOST_SUBSCRIPTIONS,
  NewSubscription,
  type PushState,
  type Subscription,
  SubscriptionId,
  type SubscriptionRequest,
} from "@tocsin/contract/push/Push"
import { isPerson, type SubscriptionRecord } from "../../heart/model/SubscriptionRecord.ts"
import { toNotifierTest } from "../../heart/notifications/Notifiers.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { eachPage, type PageParameters, pageReader } from "../../kernel/engine/lists/readPage.ts"
import { NotFound, StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { CurrentOperator } from "../../kernel/ports/CurrentOperator.ts"
import { NO_KEY, SecretCipher } from "../../kernel/ports/SecretCipher.ts"
import { Storage, type StorageError } from "../../kernel/ports/Storage.ts"
import { PushService } from "./PushService.ts"
import { browserReceivers, type FindingBrowsers, findingBrowsers, isOperatorName } from "./findBrowsers.ts"
import { reachingBrowsers, shownBy } from "./reachingBrowsers.ts"
import { openAddress, openKey, sealAddress, sealKey } from "./sealedPush.ts"
import { sealAgain } from "../../kernel/unitOfWork/sealAgain.ts"
import * as decisions from "./subscriptionDecisions.ts"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"

/** Browsers by a word of their User-Agent, the more special ones first. */
const BROWSERS: ReadonlyArray<readonly [word: RegExp, name: string]> = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
]

const SYSTEMS: ReadonlyArray<readonly [word: RegExp, name: string]> = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
]

const nameIn = (names: typeof BROWSERS, agent: string): string | undefined =>
  names.find(([word]) => word.test(agent))?.[1]

/** The name of a browser for people, made of its User-Agent: `Firefox on Linux`. */
const browserName = (agent = ""): string => {
  const system = nameIn(SYSTEMS, agent)
  const browser = nameIn(BROWSERS, agent) ?? "Browser"
  return system === undefined ? browser : `${browser} on ${system}`
}

const noBrowser = () =>
  new NotFound({ message: "no browser of yours has this id: list yours with GET /ops/v1/subscriptions" })

const refuse = (message: string) => new StateConflict({ message })

const NOBODY =
  "a shared token is nobody's: use the token of an operator of your own (tocsin operators add, or POST /ops/v1/operators)"
const TOO_MANY = `an operator has ${MOST_SUBSCRIPTIONS} browsers at most: remove one first`
const ANOTHER_KEY = "the key by which browsers subscribe was replaced at the same time: try again"

const toSubscription = (row: SubscriptionRecord): Subscription => ({
  id: row.id,
  operator: row.operator,
  name: row.name,
  service: row.service,
  created_at: row.created_at,
  taken_at: row.taken_at ?? null,
  shown_at: row.shown_at ?? null,
  last_error: row.last_error ?? null,
  ...(row.expires_at !== undefined && { expires_at: row.expires_at }),
})

const NONE = { items: [], next_cursor: null, prev_cursor: null }
const ALL = { list: "subscriptions", filter: {}, sort: "created_at", direction: "asc" } as const

/** The key by which browsers subscribe. */
const keyOperations = Effect.fnUntraced(function* (found: FindingBrowsers) {
  const { policy, signed, storage } = yield* operationPorts
  const cipher = yield* SecretCipher
  const service = yield* PushService
  return {
    state: Effect.gen(function* (): Effect.fn.Return<PushState, StorageError> {
      const { name } = yield* CurrentOperator
      const key = yield* found.key
      const receiver = browserReceivers(policy.current().document).find(([, operator]) => operator === name)
      return {
        ...(Result.isSuccess(key) ? { public_key: key.success.public_key } : { problem: key.failure }),
        ...(receiver !== undefined && { receiver: receiver[0] }),
      }
    }),
    /** Makes another key, to which no browser is bound, so it removes all of them. */
    replaceKey: Effect.gen(function* () {
      const problem = service?.problem()
      if (problem !== undefined) return yield* refuse(problem)
      if (service === undefined || cipher === undefined) return yield* refuse(NO_KEY)
      const operators = new Set<string>()
      yield* eachPage(storage, ALL, (rows) => rows.forEach(({ operator }) => void operators.add(operator)))
      const key = service.newKey()
      yield* signed((by) => decisions.replaceKey(sealKey(key, cipher), Array.from(operators), by))
      return { public_key: key.public_key }
    }),
  }
})

/** The act by which a browser gets notifications. */
const adding = Effect.fnUntraced(function* (found: FindingBrowsers) {
  const { sha256, signed } = yield* operationPorts
  const cipher = yield* SecretCipher
  const service = yield* PushService
  return {
    /** Stores the browser of the present operator; one that it had already keeps its row. */
    create: Effect.fn("Push.create")(function* (
      { endpoint, keys, name: given }: SubscriptionRequest,
      agent: string | undefined,
    ) {
      const { name: operator, session } = yield* CurrentOperator
      const address = { endpoint, p256dh: keys.p256dh, auth: keys.auth }
      const invalid = service?.keyProblem(address)
      if (invalid !== undefined) return yield* new ValidationError({ message: invalid })
      if (!isPerson(operator) && !isOperatorName(operator)) return yield* refuse(NOBODY)
      const key = yield* found.key
      if (Result.isFailure(key)) return yield* refuse(key.failure)
      if (service === undefined || cipher === undefined) return yield* refuse(NO_KEY)
      const host = service.hostOf(address)
      if (Result.isFailure(host)) return yield* refuse(host.failure)
      const id = SubscriptionId.make(sha256(`push:${Redacted.value(endpoint)}`).slice(0, 32))
      const row = {
        id,
        operator,
        name: given ?? browserName(agent),
        service: host.success,
        session,
        ...sealAddress({ id, operator }, address, cipher),
      }
      const stored = yield* signed((by) => decisions.storeSubscription(row, key.success.public_key, by))
      switch (stored.outcome) {
        case "another_key":
          return yield* refuse(ANOTHER_KEY)
        case "too_many":
          return yield* refuse(TOO_MANY)
        case "kept":
          return toSubscription(stored.row)
        case "created":
          return new NewSubscription(toSubscription(stored.row))
      }
    }),
  }
})

/** Encryption of the rows by the keys of this process. */
const sealing = Effect.gen(function* () {
  const storage = yield* Storage
  const commits = yield* Commits
  const cipher = yield* SecretCipher
  return {
    /** Encrypts, by the first key, what only the second one opens. */
    encryptAgain: Effect.gen(function* () {
      if (cipher?.keyIds[1] === undefined) return
      yield* eachPage(storage, ALL, (rows) =>
        Effect.forEach(
          rows,
          (row) => {
            const { state, value } = openAddress(row, cipher)
            return state === "former" && value !== undefined
              ? commits.transact(sealAgain("push_subscription", row.id, row, sealAddress(row, value, cipher)))
              : Effect.void
          },
          { discard: true },
        ),
      )
      const [row] = yield* storage.rows("push_key", ["vapid"])
      const { state, value } = openKey(row, cipher)
      if (row !== undefined && state === "former" && value !== undefined)
        yield* commits.transact(sealAgain("push_key", row.name, row, sealKey(value, cipher)))
    }),
    /** The states of the key and of each browser for this process. */
    states: Effect.gen(function* () {
      const found: Array<{ readonly row: SubscriptionRecord; readonly state: string }> = []
      yield* eachPage(storage, ALL, (rows) => {
        for (const row of rows) found.push({ row, state: openAddress(row, cipher).state })
      })
      const [row] = yield* storage.rows("push_key", ["vapid"])
      return { browsers: found, key: openKey(row, cipher).state }
    }),
  }
})

/** Browsers that get the notifications of their operators (docs/rules.md#browsers). */
export class Push extends Context.Service<Push>()("@tocsin/core/features/push/Push", {
  make: Effect.gen(function* () {
    const { commits, policy, sha256, signed, storage } = yield* operationPorts
    const cipher = yield* SecretCipher
    const service = yield* PushService
    const page = pageReader(storage, sha256)
    const found = yield* findingBrowsers
    const reaching = yield* reachingBrowsers(found)

    /** The row that the present operator may change. */
    const own = Effect.fnUntraced(function* (id: SubscriptionId) {
      const { name, role } = yield* CurrentOperator
      const [row] = yield* storage.rows("push_subscription", [id])
      return row !== undefined && (role === "admin" || row.operator === name) ? row : yield* noBrowser()
    })

    return {
      ...found,
      ...reaching,
      ...(yield* keyOperations(found)),
      ...(yield* adding(found)),
      ...(yield* sealing),
      list: Effect.fnUntraced(function* ({
        operator,
        ...parameters
      }: PageParameters & { readonly operator?: string | undefined }) {
        const { name, role } = yield* CurrentOperator
        if (role !== "admin" && operator !== undefined && operator !== name) return NONE
        const filter = { operator: role === "admin" ? operator : name }
        return yield* page({ ...ALL, direction: "desc", filter }, parameters, toSubscription)
      }),
      remove: Effect.fn("Push.remove")(function* (id: SubscriptionId) {
        const { name, role } = yield* CurrentOperator
        const of = role === "admin" ? undefined : name
        const count = yield* signed((by) => decisions.removeSubscription(id, of, by))
        return count === 0 ? yield* noBrowser() : { count }
      }),
      testOne: Effect.fn("Push.testOne")(function* (id: SubscriptionId) {
        const row = yield* own(id)
        const { document, readerOf } = policy.current()
        const [receiver] = browserReceivers(document).find(([, operator]) => operator === row.operator) ?? []
        return toNotifierTest(yield* reaching.test(row, readerOf(receiver).lang))
      }),
      /** Notes that the browser of a token has shown a notification; fails if none has the token. */
      shown: Effect.fn("Push.shown")(function* (token: string) {
        const named = shownBy(token)
        const [row] = named === undefined ? [] : yield* storage.rows("push_subscription", [named.id])
        const address = row && openAddress(row, cipher).value
        if (row === undefined || address === undefined || service?.proofOf(address) !== named?.proof)
          return yield* new NotFound({ message: "no browser has this token: wait for another notification" })
        if (decisions.isShownNotable(row, yield* Instant.now))
          yield* commits.transact(decisions.recordShown(row.id))
      }),
    }
  }),
}) {
  static readonly layer = Layer.effect(Push, Push.make)
}
