import { Context, Effect, Layer, Redacted } from "effect"
import { currentSignature } from "../audit/Signature.ts"
import { ValidationError } from "@tocsin/contract/Errors"
import type { AgentId, RegistrationId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type {
  ChangeIntegrationRequest,
  CreateIntegrationRequest,
  Integration,
  IntegrationWithKey,
} from "@tocsin/contract/Integrations"
import type { RotateOperatorRequest } from "@tocsin/contract/Operators"
import type { ActionCountResponse } from "@tocsin/contract/Responses"
import { Commits } from "../engine/commits/Commits.ts"
import { type Page, type PageParameters, readPage } from "../engine/lists/readPage.ts"
import { CurrentInstruments } from "../engine/metrics/Instruments.ts"
import { incidentOptions } from "../incidents/incidentOptions.ts"
import * as decisions from "../integrations/integrationDecisions.ts"
import { KINDS } from "../integrations/kinds.ts"
import { integrationKey } from "../integrations/integrationKey.ts"
import type { IntegrationRecord } from "../model/IntegrationRecord.ts"
import { PolicyInForce } from "../policy/PolicyInForce.ts"
import { Hashing } from "../ports/Hashing.ts"
import { Ids, newId } from "../ports/Ids.ts"
import { RuleSettings } from "../ports/RuleSettings.ts"
import { Storage, type StorageError } from "../ports/Storage.ts"
import { NotFound, StateConflict } from "./OperationErrors.ts"
import { USUAL_GRACE } from "./Operators.ts"
import { type SenderCalls, senderCalls } from "./senderCalls.ts"

const noSuchIntegration = () =>
  new NotFound({
    message: "no integration has this name; list integrations with GET /ops/v1/integrations",
  })

const CONFLICTS = {
  name_in_use: "an agent or an integration has this name; choose another name",
  too_many: "there are 1000 integrations, the most that there may be; remove one",
} as const

const toIntegration = (record: IntegrationRecord): Integration => ({
  name: record.name,
  kind: record.kind,
  options: record.options,
  created_at: record.created_at,
  created_by: record.created_by,
  is_closed: record.key_hash === undefined,
  last_request_at: record.last_request_at ?? null,
  last_refusal:
    record.last_refused_at === undefined || record.last_refusal === undefined
      ? null
      : { at: record.last_refused_at, message: record.last_refusal },
  sources: record.sources.map(({ heard_at, source }) => ({
    source,
    heard_at: Instant.fromMicros(BigInt(heard_at)),
  })),
})

/** The addresses to paste into senders. */
const urlsOf = ({ kind, options }: IntegrationRecord, key: string): ReadonlyArray<string> =>
  kind === "watch" ? [] : KINDS[kind].paths(key, options).map((path) => `/in/${kind}${path}`)

/** Integrations, and the reports of their senders (docs/rules.md#integrations). */
export class Integrations extends Context.Service<
  Integrations,
  SenderCalls & {
    /** Integrations by name. */
    readonly list: (
      parameters: PageParameters,
    ) => Effect.Effect<Page<Integration>, ValidationError | StorageError>
    /** One integration. */
    readonly get: (name: AgentId) => Effect.Effect<Integration, NotFound | StorageError>
    /** Creates an integration with its agent, and returns its key this once. */
    readonly create: (
      request: CreateIntegrationRequest,
    ) => Effect.Effect<IntegrationWithKey, StateConflict | StorageError | ValidationError>
    /** Replaces the options of an integration. */
    readonly change: (
      name: AgentId,
      request: ChangeIntegrationRequest,
    ) => Effect.Effect<Integration, NotFound | StorageError | ValidationError>
    /** Replaces the key of an integration, and returns the new one this once. Opens a closed one. */
    readonly rotate: (
      name: AgentId,
      request: RotateOperatorRequest,
    ) => Effect.Effect<IntegrationWithKey, NotFound | StorageError>
    /** Removes an integration with its agent; count 0 if there is none of this name. */
    readonly remove: (name: AgentId) => Effect.Effect<ActionCountResponse, StorageError>
  }
>()("@tocsin/core/usecases/Integrations") {
  static readonly layer = Layer.effect(
    Integrations,
    Effect.gen(function* () {
      const storage = yield* Storage
      const commits = yield* Commits
      const hashing = yield* Hashing
      const ids = yield* Ids
      const rules = yield* RuleSettings
      const incidents = incidentOptions(ids, yield* PolicyInForce, rules)
      const optionRules = { incidents, sha256: hashing.sha256, staleAfter: rules.staleAfter }
      const signature = currentSignature(ids)
      const { integrationRequests } = yield* CurrentInstruments
      const newRegistrationId = newId<RegistrationId>(ids)

      const newKey = Effect.sync(() => {
        const secret = integrationKey(ids.secret())
        return { secret, opening: { key: hashing.identify(secret), newRegistrationId } }
      })
      const withKey = (record: IntegrationRecord, secret: Redacted.Redacted): IntegrationWithKey => {
        const key = Redacted.value(secret)
        const urls = urlsOf(record, key).map((url) => `${rules.publicUrl ?? ""}${url}`)
        return { ...toIntegration(record), key, urls }
      }
      const required = (record: IntegrationRecord | undefined) =>
        record === undefined ? Effect.fail(noSuchIntegration()) : Effect.succeed(record)

      const read = (name: AgentId) =>
        Effect.flatMap(commits.transact(decisions.readIntegration(name)), required)

      return Integrations.of({
        ...senderCalls({ commits, hashing, ids, rules, incidents, integrationRequests }),
        get: (name) => Effect.map(read(name), toIntegration),
        list: Effect.fnUntraced(function* (parameters) {
          const query = { list: "integrations", filter: {}, sort: "name", direction: "asc" } as const
          const page = yield* readPage(storage, hashing.sha256, query, parameters)
          return { ...page, items: page.items.map(toIntegration) }
        }),
        create: Effect.fn("Integrations.create")(function* ({ kind, name, options = {} }) {
          const { opening, secret } = yield* newKey
          const created = yield* commits.transact(
            decisions.createIntegration({ kind, name, options }, opening, optionRules, yield* signature),
          )
          if (created instanceof ValidationError) return yield* created
          if (typeof created === "string") return yield* new StateConflict({ message: CONFLICTS[created] })
          return withKey(created, secret)
        }),
        change: Effect.fn("Integrations.change")(function* (name, { options }) {
          const changed = yield* commits.transact(
            decisions.changeIntegration(name, options, optionRules, yield* signature),
          )
          if (changed instanceof ValidationError) return yield* changed
          return toIntegration(yield* required(changed))
        }),
        rotate: Effect.fn("Integrations.rotate")(function* (name, { grace = USUAL_GRACE }) {
          const { opening, secret } = yield* newKey
          const rotated = yield* commits.transact(
            decisions.rotateKey(name, { ...opening, grace }, optionRules, yield* signature),
          )
          return withKey(yield* required(rotated), secret)
        }),
        remove: Effect.fn("Integrations.remove")(function* (name) {
          const by = yield* signature
          return { count: yield* commits.transact(decisions.removeIntegration(name, incidents, by)) }
        }),
      })
    }),
  )
}
