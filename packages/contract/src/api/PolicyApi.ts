import { PolicyCheck, PolicyInForceState, WindowList } from "../Policies.ts"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Internal, PayloadTooLarge, Validation } from "./ApiErrors.ts"
import { IgnoredBody, operationFor, OperatorAuthentication, ValidParameters } from "./operation.ts"

const TAG = "Policy"

const listWindows = HttpApiEndpoint.get("listWindows", "/windows", {
  success: WindowList,
  error: Internal.wire,
}).annotateMerge(
  operationFor(
    "read",
    TAG,
    "List maintenance windows",
    "Lists the maintenance windows of the policy in force, each with the one in force and the next times, five in all. The list has no pages.",
  ),
)

const getPolicy = HttpApiEndpoint.get("getPolicy", "/policy", {
  success: PolicyInForceState,
  error: Internal.wire,
}).annotateMerge(
  operationFor(
    "read",
    TAG,
    "Show the policy in force",
    "Shows the policy in force in the process that answers, with its receivers, and the live servers with the hashes of their policies. It contains no secret.",
  ),
)

const getPolicySchema = HttpApiEndpoint.get("getPolicySchema", "/policy/schema.json", {
  success: Schema.JsonObject.annotate({ description: "A JSON Schema, draft 2020-12." }),
  error: Internal.wire,
}).annotateMerge(
  operationFor(
    "read",
    TAG,
    "Get the JSON Schema of policies",
    "Describes a policy file, for editors. Some rules are beyond a JSON Schema: POST policy/check checks them all.",
  ),
)

const checkPolicy = HttpApiEndpoint.post("checkPolicy", "/policy/check", {
  payload: Schema.String.annotate({ description: "A policy in YAML 1.2 or JSON." }).pipe(
    HttpApiSchema.asText({ contentType: "application/yaml" }),
  ),
  success: PolicyCheck,
  error: [Internal.wire, Validation.wire, PayloadTooLarge.wire],
}).annotateMerge(
  operationFor(
    "admin",
    TAG,
    "Check a policy",
    "Names every problem of a policy by path and line. Opens no file and no variable that the text names, and changes nothing.",
  ),
)

/** The policy in force (docs/rules.md#policy). */
export class PolicyApi extends HttpApiGroup.make("policy")
  .add(listWindows, getPolicy, getPolicySchema)
  // This one reads its body itself.
  .middleware(IgnoredBody)
  .add(checkPolicy)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
