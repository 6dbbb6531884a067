import { Context, Effect, Layer, Redacted } from "effect"
import type { Signature } from "../../heart/audit/recordAudit.ts"
import { ValidationError } from "@tocsin/contract/formats/Errors"
import { AgentId, type RegistrationId } from "@tocsin/contract/formats/Identifiers"
import type {
  ChangeIntegrationRequest,
  CreateIntegrationRequest,
  Integration,
  IntegrationOptions,
  ShownKind,
  IntegrationWithKey,
} from "@tocsin/contract/integrations/Integrations"
import { integrationNames } from "@tocsin/contract/integrations/integrationNames"
import type { RotateOperatorRequest } from "@tocsin/contract/operators/Operators"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { readRow } from "../../kernel/unitOfWork/Decision.ts"
import { type PageParameters, readPage } from "../../kernel/engine/lists/readPage.ts"
import { CurrentInstruments } from "../../kernel/engine/metrics/Instruments.ts"
import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import * as decisions from "./integrationDecisions.ts"
import { withOnlyLogs } from "./onlyLogs.ts"
import { isKnownKind, KINDS } from "./kinds.ts"
import { ALL_INTEGRATIONS } from "./seeIntegrations.ts"
import type { IntegrationRecord } from "./IntegrationRecord.ts"
import { makeSenderCalls } from "./senderCalls.ts"
import type { Hashing } from "../../kernel/ports/Hashing.ts"
import { type Ids, newId } from "../../kernel/ports/Ids.ts"
import { publicUrlOf, type RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { StateConflict } from "../../kernel/engine/OperationErrors.ts"
import { USUAL_GRACE } from "../../heart/usecases/Operators.ts"
import { TITLES_OF_AGENTS } from "../../heart/replicas/knownNames.ts"
import { named } from "../../heart/usecases/named.ts"
import { refuseUnknown } from "../../heart/usecases/Replicas.ts"
import { shownIntegrations } from "./shownIntegrations.ts"
import { tokenOf } from "../../heart/operators/tokens.ts"
import { mailing } from "./mail/mailing.ts"
import { noSuchIntegration } from "./mail/tryingMails.ts"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"

const CONFLICTS = {
  name_in_use: "an agent or an integration has this name; choose another name",
  too_many: "there are 1000 integrations, the most that there may be; remove one",
} as const

const urlsOf = (
  { kind, options }: IntegrationRecord,
  key: string,
  rules: RuleOptions,
): ReadonlyArray<string> => {
  if (kind === "watch") return []
  const { addresses, paths } = KINDS[kind]
  if (addresses !== undefined) return addresses(key, rules.mailDomain?.() ?? "localhost")
  return paths(key, options).map((path) => `${publicUrlOf(rules) ?? ""}/in/${kind}${path}`)
}

const showingKey = (record: IntegrationRecord, secret: Redacted.Redacted, rules: RuleOptions) => {
  const key = Redacted.value(secret)
  const urls = urlsOf(record, key, rules)
  return (shown: Integration): IntegrationWithKey => ({ ...shown, key, urls })
}

/** Makes the keys of integrations, each by the kind of its senders. */
const newKeys = (ids: Ids["Service"], hashing: Hashing["Service"]) => {
  const newRegistrationId = newId<RegistrationId>(ids)
  return (kind: ShownKind | undefined) =>
    Effect.sync(() => {
      const secret = tokenOf(kind === "mail" ? "mail" : "integration", ids.secret())
      return { secret, opening: { key: hashing.identify(secret), newRegistrationId } }
    })
}

const required = Effect.fnUntraced(function* (record: IntegrationRecord | undefined) {
  if (record === undefined) return yield* noSuchIntegration()
  if (isKnownKind(record.kind)) return record
  return yield* new StateConflict({
    message: `this integration is of the kind ${record.kind}, which a later version of Tocsin has stored: upgrade this server`,
  })
})

/** Its agent has its title, too. */
const ofTitle = (title: string | null | undefined): ReadonlyArray<string> =>
  title === undefined ? [] : [TITLES_OF_AGENTS]

const changing = (
  name: AgentId,
  { options, title }: ChangeIntegrationRequest,
  incidents: IncidentOptions,
) => {
  const changes = {
    ...(options !== undefined && { options }),
    ...(title !== undefined && { title: title ?? undefined }),
  }
  return (by: Signature) => decisions.changeIntegration(name, changes, incidents, by)
}

/** Refuses a change that this version would spoil, or that a running one does not know. Gives the kind. */
const verifyingUse = (storage: Storage["Service"], { transact }: Pick<Commits["Service"], "transact">) =>
  Effect.fnUntraced(function* (
    name: AgentId,
    options: IntegrationOptions,
    others: ReadonlyArray<string> = [],
  ) {
    const { kind } = yield* Effect.flatMap(transact(readRow("integration", name)), required)
    yield* refuseUnknown(storage, [...integrationNames(kind, options), ...others])
    return kind
  })

/** Integrations, and the reports of their senders (docs/rules.md#integrations). */
export class Integrations extends Context.Service<Integrations>()(
  "@tocsin/core/features/integrations/Integrations",
  {
    make: Effect.gen(function* () {
      const { commits, hashing, ids, rules, sha256, signed, storage, ...ports } = yield* operationPorts
      const incidents = ports.options
      const { fullness, nearlyFull, noteworthy, ofMail, show, showAll, unknown } = shownIntegrations(
        storage,
        sha256,
      )
      yield* (yield* CurrentInstruments).addSource(fullness)
      const newKey = newKeys(ids, hashing)
      const withKey = (record: IntegrationRecord, secret: Redacted.Redacted) =>
        Effect.map(show(record), showingKey(record, secret, rules))
      const verifyUse = verifyingUse(storage, commits)
      const calls = yield* makeSenderCalls
      return {
        ...calls,
        ...(yield* mailing(calls.report)),
        get: (name: AgentId) =>
          commits.transact(readRow("integration", name)).pipe(Effect.flatMap(required), Effect.flatMap(show)),
        list: Effect.fnUntraced(function* (parameters: PageParameters) {
          const read = yield* readPage(storage, sha256, ALL_INTEGRATIONS, parameters)
          return { ...read, items: yield* showAll(read.items) }
        }),
        nearlyFull,
        noteworthy,
        ofMail,
        unknown,
        withOnlyLogs: withOnlyLogs(storage, commits),
        /** Creates an integration with its agent, and returns its key this once. */
        create: Effect.fn("Integrations.create")(function* (request: CreateIntegrationRequest) {
          const { kind, name, options = {}, title } = request
          yield* refuseUnknown(storage, [...integrationNames(kind, options), ...ofTitle(title)])
          const { opening, secret } = yield* newKey(kind)
          const given = { kind, title, options, staleAfter: rules.staleAfter }
          // The first watch makes an integration of its agent's name.
          const naming = { name, title, otherwise: kind, reserved: rules.watchAgent }
          const created = yield* named(naming, (chosen) => {
            const whole = { ...given, name: AgentId.make(chosen) }
            return signed((by) => decisions.createIntegration(whole, opening, by))
          })
          if (created instanceof ValidationError) return yield* created
          if (typeof created === "string") return yield* new StateConflict({ message: CONFLICTS[created] })
          return yield* withKey(created, secret)
        }),
        change: Effect.fn("Integrations.change")(function* (
          name: AgentId,
          request: ChangeIntegrationRequest,
        ) {
          yield* verifyUse(name, request.options ?? {}, ofTitle(request.title))
          const changed = yield* signed(changing(name, request, incidents))
          if (changed instanceof ValidationError) return yield* changed
          return yield* show(yield* required(changed))
        }),
        /** Replaces the key of an integration, and returns the new one this once. Opens a closed one. */
        rotate: Effect.fn("Integrations.rotate")(function* (
          name: AgentId,
          { grace = USUAL_GRACE }: RotateOperatorRequest,
        ) {
          const { opening, secret } = yield* newKey(yield* verifyUse(name, {}))
          const rotated = yield* signed((by) => decisions.rotateKey(name, { ...opening, grace }, by))
          return yield* withKey(yield* required(rotated), secret)
        }),
        /** Removes an integration with its agent; count 0 if there is none of this name. */
        remove: Effect.fn("Integrations.remove")(function* (name: AgentId) {
          return { count: yield* signed((by) => decisions.removeIntegration(name, incidents, by)) }
        }),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(Integrations, Integrations.make)
}
