import { fieldPath } from "@tocsin/contract/describeIssue"
import { PolicyDocument } from "@tocsin/contract/PolicyDocument"
import { compileGiven } from "@tocsin/core/policy/compilePolicy"
import { policyWarnings } from "@tocsin/core/policy/policyWarnings"
import { CurrentOperator, systemOperator } from "@tocsin/core/ports/CurrentOperator"
import { invalidPolicy } from "@tocsin/core/usecases/followStoredPolicy"
import { Admission } from "@tocsin/core/usecases/Admission"
import { Integrations } from "@tocsin/core/usecases/Integrations"
import { Operations } from "@tocsin/core/usecases/Operations"
import { Operators } from "@tocsin/core/usecases/Operators"
import type { ReceiverWithSecrets } from "@tocsin/core/usecases/changingReceivers"
import { Policies } from "@tocsin/core/usecases/Policies"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Sessions } from "@tocsin/core/usecases/Sessions"
import { Watches } from "@tocsin/core/usecases/Watches"
import {
  toAcknowledgement,
  toLogEntry,
  toIncidentDetail,
  toNotifierTest,
} from "@tocsin/core/usecases/toResources"
import { Context, Effect, Predicate, Record, Result, Schema } from "effect"
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { TocsinApi } from "@tocsin/contract/api/TocsinApi"
import type { OpsApi } from "@tocsin/contract/api/OpsApi"
import { PolicyReader } from "../policy/PolicyReader.ts"
import type { CoreError } from "../response/failures.ts"

/** A function for each endpoint, from its decoded parameters to its decoded answer. */
type UseCases<Endpoints extends Readonly<Record<string, HttpApiEndpoint.Constraint>>> = {
  readonly [Name in keyof Endpoints]: (
    request: Parameters<Endpoints[Name]["~Request"]>,
  ) => Effect.Effect<Endpoints[Name]["~Success"]["Type"], CoreError>
}
type Parameters<Request> = Pick<Request, Extract<keyof Request, "params" | "query" | "headers" | "payload">>

type GroupsOf<Api extends { readonly groups: Readonly<Record<string, HttpApiGroup.Constraint>> }> = {
  readonly [Name in keyof Api["groups"]]: UseCases<Api["groups"][Name]["endpoints"]>
}

export const v1UseCases = (services: Context.Context<Admission | Queries>) => {
  const admission = Context.get(services, Admission)
  const queries = Context.get(services, Queries)
  return {
    operators: {
      listAgents: ({ query }) => queries.agents(query),
      getAgent: ({ params }) => queries.agent(params.agent_id),
      deleteAgent: ({ params }) => admission.remove(params.agent_id),
      acceptAgent: ({ params }) => admission.accept(params.agent_id),
      blockAgent: ({ params }) => admission.block(params.agent_id),
      acceptAll: ({ query }) => admission.acceptAll({ includeRotation: query.include_rotation }),
      blockAll: () => admission.blockAll,
      removeAll: () => admission.removeAll,
      listBlacklist: ({ query }) => queries.blacklist(query),
      deleteBlacklist: () => admission.unblockAll,
      deleteBlacklistRow: ({ params }) => admission.unblock(params.key_id),
      listChecks: ({ query }) => queries.checks(query),
      listIncidents: ({ query }) => queries.incidents(query),
      queryEvents: ({ query }) => queries.history(query),
      getSummary: () => queries.summary,
      listOutbox: ({ query }) => queries.outbox(query),
    },
  } satisfies Pick<GroupsOf<typeof TocsinApi>, "operators">
}

/** A hash as If-Match has it: in quotes, or as people write it. */
const unquoted = (hash: string): string => hash.replaceAll('"', "")

const ROOT = "Policy"

/** The JSON Schema of a policy file, for editors. */
export const policySchema = (): Schema.JsonObject => {
  const { definitions } = Schema.toJsonSchemaDocument(PolicyDocument, { onExcessProperty: "error" })
  const { [ROOT]: root, ...others } = definitions
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Tocsin policy",
    ...asJson(root),
    $defs: asJson(others),
  }
}

// A generated schema is JSON.
const asJson = (schema: unknown) => flattened(schema) as Schema.JsonObject

/** Conditions beside their type, instead of in lists of which editors show the first. */
const flattened = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(flattened)
  if (!Predicate.isObject(node)) return node
  const { allOf = [], ...schema } = node as { readonly allOf?: ReadonlyArray<object> }
  return Record.map(Object.assign(schema, ...allOf) as Record<string, unknown>, flattened)
}

const warningsOf = (document: PolicyDocument) =>
  policyWarnings(document).map(({ message, path }) => ({ path: fieldPath(path), message }))

const policyUseCases = (policies: Policies["Service"]) => {
  // It is stored: a process that cannot put it in force now tries again within seconds.
  const inForceAfter = <A, E>(storing: Effect.Effect<A, E>) =>
    Effect.map(Effect.tap(storing, Effect.ignore(policies.follow)), (stored) => ({
      ...stored,
      unavailable: policies.unavailable(),
    }))
  const changeReceiver = (
    change: ReceiverWithSecrets,
    headers: { readonly "if-match": string },
    { confirm }: { readonly confirm: boolean },
  ) => {
    const changing = policies.changeReceiver(change, { replaces: unquoted(headers["if-match"]), confirm })
    // Its effects are judged beside the newest version.
    return Effect.andThen(Effect.ignore(policies.follow), inForceAfter(changing))
  }
  return {
    listWindows: () => policies.windows,
    getPolicy: () => policies.current,
    getPolicySchema: () => Effect.sync(policySchema),
    listPolicyVersions: ({ query }) => policies.versions(query),
    applyPolicy: ({ headers: { "if-match": hash }, payload, query: { confirm } }) =>
      inForceAfter(policies.apply(payload, { replaces: hash && unquoted(hash), confirm })),
    putReceiver: ({ headers, params, payload, query }) =>
      changeReceiver({ ...params, ...payload }, headers, query),
    tryReceiver: ({ params, payload }) =>
      Effect.map(policies.tryReceiver({ ...params, ...payload }), toNotifierTest),
    removeReceiver: ({ headers, params, query }) =>
      changeReceiver({ name: params.name, receiver: undefined }, headers, query),
    checkPolicy: ({ payload }) =>
      Effect.gen(function* () {
        const { elsewhere, source } = policies
        const given = policies.given()
        const read = yield* Effect.result(
          source.source === "stored"
            ? source.read(payload, elsewhere())
            : (yield* PolicyReader)(payload, given),
        )
        const issues = Result.isFailure(read)
          ? read.failure
          : yield* policies.plainSecrets.issues(read.success)
        if (Result.isFailure(read) || issues.length > 0) return { issues }
        const policy = compileGiven(read.success, given)
        const listed = yield* policies.lines(read.success)
        const lost = yield* policies.lost(policy)
        const warnings = [...warningsOf(read.success), ...lost, ...listed.warnings]
        return { issues, ...listed, warnings, firings: yield* policies.firings(policy) }
      }),
    tryPolicy: ({ payload, query }) =>
      PolicyReader.pipe(
        Effect.flatMap((read) => read(payload, policies.given())),
        Effect.mapError(invalidPolicy),
        Effect.flatMap((document) => policies.try(document, query)),
      ),
  } satisfies GroupsOf<typeof OpsApi>["policy"]
}

const secretUseCases = ({ follow, secrets }: Policies["Service"]) => {
  // The policy may be that of another operator. A process that cannot follow now tries again within seconds.
  const following = Effect.provideService(Effect.ignore(follow), CurrentOperator, systemOperator)
  return {
    listSecrets: () => secrets.list,
    putSecrets: ({ params, payload }) => Effect.tap(secrets.put(params.name, payload), () => following),
    removeSecrets: ({ params }) => Effect.andThen(following, secrets.remove(params.name)),
  } satisfies GroupsOf<typeof OpsApi>["secrets"]
}

const operatorUseCases = (operators: Operators["Service"]) =>
  ({
    me: () => operators.me,
    listOperators: ({ query }) => operators.list(query),
    createOperator: ({ payload }) => operators.create(payload),
    changeOperator: ({ params, payload }) => operators.change(params.name, payload),
    rotateOperator: ({ params, payload }) => operators.rotate(params.name, payload),
    removeOperator: ({ params }) => operators.remove(params.name),
  }) satisfies GroupsOf<typeof OpsApi>["operators"]

const announcementUseCases = (queries: Queries["Service"], operations: Operations["Service"]) =>
  ({
    listAnnouncements: ({ query }) => queries.announcements(query),
    createAnnouncement: ({ payload }) => operations.announce(payload),
    updateAnnouncement: ({ params, payload }) => operations.updateAnnouncement(params.id, payload.text),
    endAnnouncement: ({ params }) => operations.endAnnouncement(params.id),
  }) satisfies GroupsOf<typeof OpsApi>["announcements"]

const sessionUseCases = (sessions: Sessions["Service"]) =>
  ({
    signOut: () => sessions.signOut,
    listSessions: ({ query }) => sessions.list(query),
    endSession: ({ params }) => sessions.end(params.id),
  }) satisfies GroupsOf<typeof OpsApi>["sessions"]

const watchUseCases = (watches: Watches["Service"]) =>
  ({
    listWatches: ({ query }) => watches.list(query),
    getWatch: ({ params }) => watches.get(params.name),
    createWatch: ({ payload }) => watches.create(payload),
    changeWatch: ({ params, payload }) => watches.change(params.name, payload),
    pauseWatch: ({ params, payload }) => watches.pause(params.name, payload),
    removeWatch: ({ params }) => watches.remove(params.name),
    tryWatch: ({ payload }) => watches.try(payload),
  }) satisfies GroupsOf<typeof OpsApi>["watches"]

const rotaUseCases = (operations: Operations["Service"]) =>
  ({
    listRotas: () => operations.rotas,
    getRota: ({ params, query }) => operations.rota(params.name, query),
    listOverrides: ({ params, query }) => operations.overrides(params.name, query),
    createOverride: ({ params, payload }) => operations.override(params.name, payload),
    endOverride: ({ params }) => operations.endOverride(params.name, params.id),
  }) satisfies GroupsOf<typeof OpsApi>["rotas"]

/** The use case of each operators' endpoint of /ops/v1, by group. */
export const opsUseCases = (
  services: Context.Context<
    Admission | Integrations | Operations | Operators | Policies | Queries | Sessions | Watches
  >,
) => {
  const { enrolments } = Context.get(services, Admission)
  const integrations = Context.get(services, Integrations)
  const operations = Context.get(services, Operations)
  const policies = Context.get(services, Policies)
  const queries = Context.get(services, Queries)
  return {
    operations: {
      getOverview: () => queries.overview,
      getAgentDownload: () => operations.agentDownload,
      findAgents: ({ query }) => queries.findAgents(query),
      listExpectedChecks: ({ query }) => queries.expectedChecks(query),
      listAvailability: ({ query }) => operations.availability(query),
      listSeries: ({ params }) => queries.numbers.ofCheck(params.agent_id, params.check_id),
      readNumbers: ({ query }) => queries.numbers.read(query),
      listAudit: ({ query }) => queries.audit(query),
      replay: ({ params }) => operations.replay(params.id),
      release: ({ params }) => operations.release(params.id),
      listHeldOutbox: ({ query }) => operations.outbox(query),
      listHeldIncidents: ({ query }) => operations.incidents(query),
      testNotifier: ({ params }) => Effect.map(operations.testNotifier(params.notifier), toNotifierTest),
      resolveCheck: ({ params }) => operations.resolveCheck(params),
      resetClock: ({ params }) => operations.resetClock(params),
      removeCheck: ({ params }) => operations.removeCheck(params),
      showIncident: ({ params }) => Effect.map(operations.incident(params.id), toIncidentDetail),
      explain: ({ query }) => operations.explain(query),
    },
    operators: operatorUseCases(Context.get(services, Operators)),
    integrations: {
      listIntegrations: ({ query }) => integrations.list(query),
      getIntegration: ({ params }) => integrations.get(params.name),
      createIntegration: ({ payload }) => integrations.create(payload),
      changeIntegration: ({ params, payload }) => integrations.change(params.name, payload),
      rotateIntegration: ({ params, payload }) => integrations.rotate(params.name, payload),
      removeIntegration: ({ params }) => integrations.remove(params.name),
    },
    enrolments: {
      listEnrolments: ({ query }) => enrolments.list(query),
      createEnrolment: ({ payload }) => enrolments.create(payload),
      removeEnrolment: ({ params }) => enrolments.remove(params.id),
    },
    incidentActions: {
      acknowledge: ({ params, payload }) =>
        Effect.map(operations.acknowledge(params.id, payload), toAcknowledgement),
      withdrawAcknowledgement: ({ params }) => operations.withdraw(params.id),
      acknowledgeAll: ({ payload }) => operations.acknowledgeAll(payload),
      noteIncident: ({ params, payload }) => Effect.map(operations.note(params.id, payload), toLogEntry),
    },
    policy: policyUseCases(policies),
    watches: watchUseCases(Context.get(services, Watches)),
    rotas: rotaUseCases(operations),
    secrets: secretUseCases(policies),
    sessions: sessionUseCases(Context.get(services, Sessions)),
    silences: {
      listSilences: ({ query }) => queries.silences(query),
      getSilence: ({ params }) => operations.showSilence(params.id),
      createSilence: ({ payload, query }) =>
        query.dry_run ? operations.previewSilence(payload) : operations.silence(payload),
      changeSilence: ({ params, payload }) => operations.editSilence(params.id, payload),
      expireSilence: ({ params }) => operations.expireSilence(params.id),
    },
    announcements: announcementUseCases(queries, operations),
  } satisfies Omit<GroupsOf<typeof OpsApi>, "agents" | "signIn" | "stream">
}
