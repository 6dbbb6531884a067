import { fieldPath } from "@tocsin/contract/formats/describeIssue"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import { compileGiven } from "@tocsin/core/heart/policy/compilePolicy"
import { policyWarnings } from "@tocsin/core/lists/policyWarnings"
import { invalidPolicy } from "@tocsin/core/heart/usecases/followStoredPolicy"
import type { ReceiverWithSecrets } from "@tocsin/core/features/receivers/changingReceivers"
import { PolicyTrials } from "@tocsin/core/features/trial/PolicyTrials"
import { Policies } from "@tocsin/core/lists/Policies"
import { PolicyLines } from "@tocsin/core/lists/PolicyLines"
import { toNotifierTest } from "@tocsin/core/heart/notifications/Notifiers"
import { Context, Effect, Predicate, Record, Result, Schema } from "effect"
import { PolicyReader } from "../policy/PolicyReader.ts"
import type { OpsUseCases } from "./OpsUseCases.ts"

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

const warningsOf = (document: PolicyDocument, now: Instant.Instant) =>
  policyWarnings(document, now).map(({ message, path }) => ({ path: fieldPath(path), message }))

const toUnavailable = (reasons: ReadonlyMap<NotifierName, string>) =>
  Array.from(reasons, ([receiver, reason]) => ({ receiver, reason }))

/** Checks a text as it would be put in force. */
const checking = (policies: Policies["Service"], { lines }: PolicyLines["Service"]) =>
  Effect.fnUntraced(function* (payload: string) {
    const { elsewhere, source } = policies
    const given = policies.given()
    const read = yield* Effect.result(
      source.source === "stored" ? source.read(payload, elsewhere()) : (yield* PolicyReader)(payload, given),
    )
    const issues = Result.isFailure(read) ? read.failure : yield* policies.plainSecrets.issues(read.success)
    if (Result.isFailure(read) || issues.length > 0) return { issues }
    const policy = compileGiven(read.success, given)
    const listed = yield* lines(read.success)
    const lost = yield* policies.lost(policy)
    const warnings = [...warningsOf(read.success, yield* Instant.now), ...lost, ...listed.warnings]
    const unavailable = yield* policies.unavailableUnder(read.success)
    return {
      issues,
      ...listed,
      warnings,
      firings: yield* policies.firings(policy),
      ...(unavailable && { unavailable: toUnavailable(unavailable) }),
    }
  })

export const policyUseCases = (services: Context.Context<Policies | PolicyLines | PolicyTrials>) => {
  const policies = Context.get(services, Policies)
  const check = checking(policies, Context.get(services, PolicyLines))
  const trials = Context.get(services, PolicyTrials)
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
    patchPolicy: ({ headers: { "if-match": hash }, payload, query: { confirm, dry_run: isTrial } }) => {
      const replaces = unquoted(hash)
      if (isTrial) return policies.tryPatch(payload, replaces)
      // Its effects are judged beside the newest version.
      return Effect.andThen(
        Effect.ignore(policies.follow),
        inForceAfter(policies.patch(payload, { replaces, confirm })),
      )
    },
    putReceiver: ({ headers, params, payload, query }) =>
      changeReceiver({ ...params, ...payload }, headers, query),
    tryReceiver: ({ params, payload }) =>
      Effect.map(policies.tryReceiver({ ...params, ...payload }), toNotifierTest),
    removeReceiver: ({ headers, params, query }) =>
      changeReceiver({ name: params.name, receiver: undefined }, headers, query),
    checkPolicy: ({ payload }) => check(payload),
    tryPolicy: ({ payload, query }) =>
      PolicyReader.pipe(
        Effect.flatMap((read) => read(payload, policies.given())),
        Effect.mapError(invalidPolicy),
        Effect.flatMap((document) => trials.try(document, query)),
      ),
  } satisfies OpsUseCases<"policy">
}
