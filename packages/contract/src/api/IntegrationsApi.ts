import {
  ChangeIntegrationRequest,
  CreateIntegrationRequest,
  Integration,
  IntegrationListParameters,
  IntegrationPage,
  IntegrationPath,
  IntegrationWithKey,
  RotateIntegrationRequest,
} from "../Integrations.ts"
import { ActionCountResponse } from "../Responses.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Conflict, NotFound, PayloadTooLarge, Validation } from "./ApiErrors.ts"
import { IgnoredBody, operationsOf, OperatorAuthentication, ValidParameters } from "./operation.ts"

const operation = operationsOf("Integrations")

const listIntegrations = HttpApiEndpoint.get("listIntegrations", "/integrations", {
  query: IntegrationListParameters,
  success: IntegrationPage,
}).annotateMerge(operation.read("List integrations", "Lists integrations by name, without their keys."))

const getIntegration = HttpApiEndpoint.get("getIntegration", "/integrations/:name", {
  params: IntegrationPath,
  success: Integration,
  error: NotFound.wire,
}).annotateMerge(operation.read("Show an integration", "Shows an integration without its key."))

const removeIntegration = HttpApiEndpoint.delete("removeIntegration", "/integrations/:name", {
  params: IntegrationPath,
  success: ActionCountResponse,
}).annotateMerge(
  operation.admin(
    "Remove an integration",
    "Removes an integration with its agent, checks and history. Safe to repeat.",
  ),
)

const createIntegration = HttpApiEndpoint.post("createIntegration", "/integrations", {
  payload: CreateIntegrationRequest,
  success: IntegrationWithKey.pipe(HttpApiSchema.status(201)),
  error: [Validation.wire, Conflict.wire, PayloadTooLarge.wire],
}).annotateMerge(
  operation.admin(
    "Create an integration",
    "Creates an integration and its agent. The answer shows the key, this once. Answers 409 if an agent or an integration has the name.",
  ),
)

const withBody = [Validation.wire, NotFound.wire, PayloadTooLarge.wire] as const

const changeIntegration = HttpApiEndpoint.patch("changeIntegration", "/integrations/:name", {
  params: IntegrationPath,
  payload: ChangeIntegrationRequest,
  success: Integration,
  error: withBody,
}).annotateMerge(operation.admin("Change an integration", "Replaces the options, from the next request on."))

const rotateIntegration = HttpApiEndpoint.post("rotateIntegration", "/integrations/:name/rotate", {
  params: IntegrationPath,
  payload: RotateIntegrationRequest,
  success: IntegrationWithKey,
  error: withBody,
}).annotateMerge(
  operation.admin(
    "Replace an integration's key",
    "Replaces the key. The answer shows the new one, this once. The former one stays valid for `grace`. Opens an integration whose key was blocked, with a new agent.",
  ),
)

/** Integrations (docs/rules.md#integrations). */
export class IntegrationsApi extends HttpApiGroup.make("integrations")
  .add(listIntegrations, getIntegration, removeIntegration)
  // These read their bodies themselves.
  .middleware(IgnoredBody)
  .add(createIntegration, changeIntegration, rotateIntegration)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
