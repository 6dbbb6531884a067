import {
  AppliedPolicy,
  PolicyApplicationParameters,
  PolicyCheck,
  PolicyInForceState,
  PolicyVersionList,
  WindowList,
} from "../Policies.ts"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Conflict, PayloadTooLarge, PreconditionFailed, Validation } from "./ApiErrors.ts"
import { IgnoredBody, operationsOf, OperatorAuthentication, ValidParameters } from "./operation.ts"

const operation = operationsOf("Policy")

const POLICY_TEXT = Schema.String.annotate({ description: "A policy in YAML 1.2 or JSON." }).pipe(
  HttpApiSchema.asText({ contentType: "application/yaml" }),
)

const listWindows = HttpApiEndpoint.get("listWindows", "/windows", { success: WindowList }).annotateMerge(
  operation.read(
    "List maintenance windows",
    "Lists the maintenance windows of the policy in force, each with the one in force and the next times, five in all. The list has no pages.",
  ),
)

const getPolicy = HttpApiEndpoint.get("getPolicy", "/policy", { success: PolicyInForceState }).annotateMerge(
  operation.read(
    "Show the policy in force",
    "Shows the policy in force in the process that answers, with its receivers, and the live servers with the hashes of their policies. It contains no secret.",
  ),
)

const getPolicySchema = HttpApiEndpoint.get("getPolicySchema", "/policy/schema.json", {
  success: Schema.JsonObject.annotate({ description: "A JSON Schema, draft 2020-12." }),
}).annotateMerge(
  operation.read(
    "Get the JSON Schema of policies",
    "Describes a policy file, for editors. Some rules are beyond a JSON Schema: POST policy/check checks them all.",
  ),
)

const listPolicyVersions = HttpApiEndpoint.get("listPolicyVersions", "/policy/versions", {
  success: PolicyVersionList,
}).annotateMerge(
  operation.admin(
    "List the stored versions of the policy",
    "Lists the last 100 policies that were applied, each with its text, the newest first. The list has no pages.",
  ),
)

const applyPolicy = HttpApiEndpoint.put("applyPolicy", "/policy", {
  headers: Schema.Struct({
    "if-match": Schema.optionalKey(Schema.String).annotateKey({
      description: "The hash of the policy that this one replaces; without it, whichever is in force.",
    }),
  }),
  payload: POLICY_TEXT,
  query: PolicyApplicationParameters,
  success: AppliedPolicy,
  error: [Validation.wire, PayloadTooLarge.wire, Conflict.wire, PreconditionFailed.wire],
}).annotateMerge(
  operation.admin(
    "Apply a policy",
    "Checks a policy, stores it, and puts it in force: immediately in the server that answers, within 5 s in the others. It may name only files of the folder SERVICE_SECRETS_DIR, and variables that begin with TOCSIN_SECRET_. Answers 412 if If-Match names another policy than the one in force, and 409 if a receiver gets more than 100 firings immediately, or where SERVICE_POLICY_FILE, or the program that contains Tocsin, decides.",
  ),
)

const checkPolicy = HttpApiEndpoint.post("checkPolicy", "/policy/check", {
  payload: POLICY_TEXT,
  success: PolicyCheck,
  error: [Validation.wire, PayloadTooLarge.wire],
}).annotateMerge(
  operation.admin(
    "Check a policy",
    "Names every problem of a policy by path and line. Opens no file and no variable that the text names, and changes nothing.",
  ),
)

/** The policy in force (docs/rules.md#policy). */
export class PolicyApi extends HttpApiGroup.make("policy")
  .add(listWindows, getPolicy, getPolicySchema, listPolicyVersions)
  // These read their bodies themselves.
  .middleware(IgnoredBody)
  .add(checkPolicy, applyPolicy)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
