import {
  AppliedPolicy,
  PolicyApplicationParameters,
  PolicyCheck,
  PolicyInForceState,
  PolicyTrial,
  PolicyTrialParameters,
  PolicyVersionList,
  WindowList,
} from "../Policies.ts"
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Conflict, PayloadTooLarge, PreconditionFailed, RateLimited, Validation } from "./ApiErrors.ts"
import { IgnoredBody, OperatorAuthentication, role, ValidParameters } from "./operation.ts"

const POLICY_TEXT = Schema.String.annotate({ description: "A policy in YAML 1.2 or JSON." }).pipe(
  HttpApiSchema.asText({ contentType: "application/yaml" }),
)

/** The policy in force (docs/rules.md#policy). */
export class PolicyApi extends HttpApiGroup.make("policy")
  .add(
    role.read.get("listWindows", "/windows", { success: WindowList }),
    role.read.get("getPolicy", "/policy", { success: PolicyInForceState }),
    role.read.get("getPolicySchema", "/policy/schema.json", {
      success: Schema.JsonObject.annotate({ description: "A JSON Schema, draft 2020-12." }),
    }),
    role.admin.get("listPolicyVersions", "/policy/versions", { success: PolicyVersionList }),
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
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
