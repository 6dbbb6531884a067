import {
  AppliedPolicy,
  PolicyApplicationParameters,
  PolicyCheck,
  PolicyInForceState,
  PolicyTrial,
  PolicyTrialParameters,
  PolicyVersionList,
  PolicyVersionParameters,
  ReceiverPath,
  ReceiverRequest,
  WindowList,
} from "../Policies.ts"
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import {
  Conflict,
  NotFound,
  PayloadTooLarge,
  PreconditionFailed,
  RateLimited,
  Validation,
} from "./ApiErrors.ts"
import { NotifierTest } from "./opsResources.ts"
import { IgnoredBody, OperatorAuthentication, role, ValidParameters } from "./operation.ts"

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
export class PolicyApi extends HttpApiGroup.make("policy")
  .add(
    role.read.get("listWindows", "/windows", { success: WindowList }),
    role.read.get("getPolicy", "/policy", { success: PolicyInForceState }),
    role.read.get("getPolicySchema", "/policy/schema.json", {
      success: Schema.JsonObject.annotate({ description: "A JSON Schema, draft 2020-12." }),
    }),
    role.admin.get("listPolicyVersions", "/policy/versions", {
      query: PolicyVersionParameters,
      success: PolicyVersionList,
    }),
  )
  // The others read their bodies themselves.
  .middleware(IgnoredBody)
  .add(
    role.admin.post("checkPolicy", "/policy/check", {
      payload: POLICY_TEXT,
      success: PolicyCheck,
      error: [Validation.wire, PayloadTooLarge.wire],
    }),
    role.admin.post("tryPolicy", "/policy/try", {
      payload: POLICY_TEXT,
      query: PolicyTrialParameters,
      success: PolicyTrial,
      error: [Validation.wire, PayloadTooLarge.wire, Conflict.wire, RateLimited.wire],
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
      error: [Validation.wire, PayloadTooLarge.wire, Conflict.wire, PreconditionFailed.wire],
    }),
  )
  .add(
    role.admin.post("tryReceiver", "/receivers/:name/try", {
      params: ReceiverPath,
      payload: ReceiverRequest,
      success: NotifierTest,
      error: [PayloadTooLarge.wire, Conflict.wire],
    }),
    role.admin.put("putReceiver", "/receivers/:name", {
      ...changedReceiver,
      payload: ReceiverRequest,
      error: [PayloadTooLarge.wire, Conflict.wire, PreconditionFailed.wire],
    }),
    role.admin
      .delete("removeReceiver", "/receivers/:name", {
        ...changedReceiver,
        error: [NotFound.wire, Conflict.wire, PreconditionFailed.wire],
      })
      .middleware(IgnoredBody),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
