import { Effect, Result, Schema } from "effect"
import type { FieldProblem } from "@tocsin/contract/formats/describeIssue"
import * as Instant from "@tocsin/contract/formats/Instant"
import { OperatorName } from "@tocsin/contract/operators/Operators"
import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { MOST_SUBSCRIPTIONS } from "@tocsin/contract/push/Push"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { hasLapsed, isPerson } from "../../heart/model/SubscriptionRecord.ts"
import { Commits } from "../../kernel/engine/commits/Commits.ts"
import { firstRows } from "../../kernel/engine/lists/readPage.ts"
import { NO_KEY, SecretCipher } from "../../kernel/ports/SecretCipher.ts"
import { Storage, type StorageError } from "../../kernel/ports/Storage.ts"
import { PushService, type VapidKey } from "./PushService.ts"
import { openAddress, openKey, sealKey } from "./sealedPush.ts"
import { establishKey } from "./subscriptionDecisions.ts"

const NO_SERVICE = "this program gives Tocsin no push service: run the server, or give its layers one"
const LOST_KEY =
  "no key of SERVICE_SECRETS_KEY opens the key by which browsers know this server: give the server the former key, or make another one with POST /ops/v1/push/key, after which each browser must be added again"

/** So many characters begin no other ciphertext: the nonce has sixteen. */
const MARK = 24

export const isOperatorName = Schema.is(OperatorName)

/** The receivers of a policy that are browsers, each with its operator. */
export const browserReceivers = ({ receivers = {} }: PolicyDocument) =>
  Object.entries(receivers).flatMap(([name, receiver]): ReadonlyArray<readonly [NotifierName, string]> =>
    receiver.kind === "messenger" && receiver.type === "browser" && receiver.operator !== undefined
      ? [[name, receiver.operator]]
      : [],
  )

const findOperator = Effect.fnUntraced(function* (storage: Rows, name: string) {
  const [row] = isOperatorName(name) ? yield* storage.rows("operator", [name]) : []
  return row
})

type Rows = Pick<Storage["Service"], "rows">

/** Warnings of operators that a policy names and nobody has created. */
export const findUnknownOperators = (storage: Rows) =>
  Effect.fnUntraced(function* (document: PolicyDocument) {
    const found: Array<FieldProblem> = []
    for (const [name, operator] of browserReceivers(document)) {
      if (isPerson(operator) || (yield* findOperator(storage, operator)) !== undefined) continue
      const message = `names ${operator}, who is no operator: create it, or name another one`
      found.push({ message, path: ["receivers", name, "operator"] })
    }
    return found
  })

/** The key of all servers, made at its first use; why there is none. */
const keyOfBrowsers = Effect.gen(function* () {
  const storage = yield* Storage
  const { transact } = yield* Commits
  const cipher = yield* SecretCipher
  const service = yield* PushService
  return Effect.gen(function* (): Effect.fn.Return<Result.Result<VapidKey, string>, StorageError> {
    if (service === undefined) return Result.fail(NO_SERVICE)
    const problem = service.problem()
    if (problem !== undefined) return Result.fail(problem)
    if (cipher === undefined) return Result.fail(NO_KEY)
    const [row] = yield* storage.rows("push_key", ["vapid"])
    const made = row ?? (yield* transact(establishKey(sealKey(service.newKey(), cipher))))
    const { value } = openKey(made, cipher)
    return value === undefined ? Result.fail(LOST_KEY) : Result.succeed(value)
  })
})

/** Functions that find the browsers of operators, and why there are none (docs/rules.md#browsers). */
export const findingBrowsers = Effect.gen(function* () {
  const storage = yield* Storage
  const cipher = yield* SecretCipher
  const key = yield* keyOfBrowsers

  const browsersOf = Effect.fnUntraced(function* (operator: string) {
    const query = {
      list: "subscriptions",
      filter: { operator },
      sort: "created_at",
      direction: "asc",
    } as const
    const rows = yield* firstRows(storage, query, MOST_SUBSCRIPTIONS)
    const now = yield* Instant.now
    return rows.filter((row) => !hasLapsed(row, now))
  })
  const operatorProblem = Effect.fnUntraced(function* (operator: string) {
    if (isPerson(operator)) return undefined
    const row = yield* findOperator(storage, operator)
    if (row === undefined) return `the operator ${operator} does not exist: create it, or name another one`
    const isOver = row.expires_at !== undefined && row.expires_at <= (yield* Instant.now)
    return isOver ? `the operator ${operator} has expired: give it another end` : undefined
  })
  /** Why no browser of an operator can be reached. */
  const problemOf = Effect.fnUntraced(function* (operator: string) {
    const found = yield* key
    if (Result.isFailure(found)) return found.failure
    const problem = yield* operatorProblem(operator)
    if (problem !== undefined) return problem
    const rows = yield* browsersOf(operator)
    if (rows.some((row) => openAddress(row, cipher).value !== undefined)) return undefined
    return rows.length > 0
      ? `no key of SERVICE_SECRETS_KEY opens the browsers of ${operator}: press Notify this browser in them again`
      : `${operator} has no browser that gets notifications: press Notify this browser in the console's settings`
  })
  return {
    browsersOf,
    key,
    problemOf,
    /** Why receivers of a policy cannot be used now, by name. Costs nothing where none is a browser. */
    unreachable: Effect.fnUntraced(function* (document: PolicyDocument) {
      const found = new Map<NotifierName, string>()
      for (const [name, operator] of browserReceivers(document)) {
        const problem = yield* Effect.catch(problemOf(operator), ({ message }) =>
          Effect.succeed(`the storage failed: ${message}`),
        )
        if (problem !== undefined) found.set(name, problem)
      }
      return found
    }),
    /** Tells the browsers of each receiver of a policy from others: another text where one was added. */
    marksOf: Effect.fnUntraced(function* (document: PolicyDocument) {
      const found = new Map<NotifierName, string>()
      for (const [name, operator] of browserReceivers(document)) {
        const rows = yield* Effect.orElseSucceed(browsersOf(operator), () => [])
        found.set(name, rows.map(({ ciphertext }) => ciphertext.slice(0, MARK)).join())
      }
      return found
    }),
  }
})

export type FindingBrowsers = Effect.Success<typeof findingBrowsers>
