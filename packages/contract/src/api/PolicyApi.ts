import { PolicyPatch } from "../policy/PolicyPatch.ts"
import {
  AppliedPolicy,
  PatchedPolicy,
  PolicyPatchParameters,
  PolicyApplicationParameters,
  PolicyCheck,
  PolicyVersionList,
  PolicyVersionParameters,
} from "../policy/Policies.ts"
import { PolicyInForceState, WindowList } from "../policy/PolicyInForce.ts"
import { PolicyTrial, PolicyTrialParameters } from "../trial/PolicyTrial.ts"
import { ReceiverPath, ReceiverRequest } from "../receivers/ReceiverRequest.ts"
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Conflict, NotFound, PreconditionFailed, RateLimited } from "./ApiErrors.ts"
import { NotifierTest } from "./opsResources.ts"
import { operatorsGroup, role } from "./operation.ts"

const POLICY_TEXT = Schema.String.annotate({ description: "A policy in YAML 1.2 or JSON." }).pipe(
  HttpApiSchema.asText({ contentType: "application/yaml" }),
)

const changedReceiver = {
  params: ReceiverPath,
  headers: Schema.Struct({
    "if-match": Schema.String.annotate({
      description: "The hash of the policy whose receiver is changed, as GET policy has it.",
    }),
  }),
  query: PolicyApplicationParameters,
  success: AppliedPolicy,
} as const

/** The policy in force (docs/rules.md#policy). */
export class PolicyApi extends operatorsGroup(
  "policy",
  role.read.get("listWindows", "/windows", { success: WindowList }),
  role.read.get("getPolicy", "/policy", { success: PolicyInForceState }),
  role.read.get("getPolicySchema", "/policy/schema.json", {
    success: Schema.JsonObject.annotate({ description: "A JSON Schema, draft 2020-12." }),
  }),
  role.admin.get("listPolicyVersions", "/policy/versions", {
    query: PolicyVersionParameters,
    success: PolicyVersionList,
  }),
  role.admin.post("checkPolicy", "/policy/check", { payload: POLICY_TEXT, success: PolicyCheck }),
  role.admin.post("tryPolicy", "/policy/try", {
    payload: POLICY_TEXT,
    query: PolicyTrialParameters,
    success: PolicyTrial,
    error: [Conflict.wire, RateLimited.wire],
  }),
  role.admin.put("applyPolicy", "/policy", {
    headers: Schema.Struct({
      "if-match": Schema.optionalKey(Schema.String).annotateKey({
        description: "The hash of the policy that this one replaces; without it, whichever is in force.",
      }),
    }),
    payload: POLICY_TEXT,
    query: PolicyApplicationParameters,
    success: AppliedPolicy,
    error: [Conflict.wire, PreconditionFailed.wire],
  }),
  role.admin.patch("patchPolicy", "/policy", {
    headers: Schema.Struct({
      "if-match": Schema.String.annotate({
        description: "The hash of the policy that is changed, as GET policy has it.",
      }),
    }),
    payload: PolicyPatch.pipe(HttpApiSchema.asJson({ contentType: "application/json-patch+json" })),
    query: PolicyPatchParameters,
    success: Schema.Union([AppliedPolicy, PatchedPolicy]).annotate({
      description: "The stored version, or the text with its problems for dry_run.",
    }),
    error: [Conflict.wire, PreconditionFailed.wire],
  }),
  role.admin.post("tryReceiver", "/receivers/:name/try", {
    params: ReceiverPath,
    payload: ReceiverRequest,
    success: NotifierTest,
    error: Conflict.wire,
  }),
  role.admin.put("putReceiver", "/receivers/:name", {
    ...changedReceiver,
    payload: ReceiverRequest,
    error: [Conflict.wire, PreconditionFailed.wire],
  }),
  role.admin.delete("removeReceiver", "/receivers/:name", {
    ...changedReceiver,
    error: [NotFound.wire, Conflict.wire, PreconditionFailed.wire],
  }),
) {}
