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
import { IgnoredBody, RequiredRole, OperatorAuthentication, ValidParameters } from "./operation.ts"

const listIntegrations = HttpApiEndpoint.get("listIntegrations", "/integrations", {
  query: IntegrationListParameters,
  success: IntegrationPage,
}).annotate(RequiredRole, "read")

const getIntegration = HttpApiEndpoint.get("getIntegration", "/integrations/:name", {
  params: IntegrationPath,
  success: Integration,
  error: NotFound.wire,
}).annotate(RequiredRole, "read")

const removeIntegration = HttpApiEndpoint.delete("removeIntegration", "/integrations/:name", {
  params: IntegrationPath,
  success: ActionCountResponse,
}).annotate(RequiredRole, "admin")

const createIntegration = HttpApiEndpoint.post("createIntegration", "/integrations", {
  payload: CreateIntegrationRequest,
  success: IntegrationWithKey.pipe(HttpApiSchema.status(201)),
  error: [Validation.wire, Conflict.wire, PayloadTooLarge.wire],
}).annotate(RequiredRole, "admin")

const withBody = [Validation.wire, NotFound.wire, PayloadTooLarge.wire] as const

const changeIntegration = HttpApiEndpoint.patch("changeIntegration", "/integrations/:name", {
  params: IntegrationPath,
  payload: ChangeIntegrationRequest,
  success: Integration,
  error: withBody,
}).annotate(RequiredRole, "admin")

const rotateIntegration = HttpApiEndpoint.post("rotateIntegration", "/integrations/:name/rotate", {
  params: IntegrationPath,
  payload: RotateIntegrationRequest,
  success: IntegrationWithKey,
  error: withBody,
}).annotate(RequiredRole, "admin")

/** Integrations (docs/rules.md#integrations). */
export class IntegrationsApi extends HttpApiGroup.make("integrations")
  .add(listIntegrations, getIntegration, removeIntegration)
  // These read their bodies themselves.
  .middleware(IgnoredBody)
  .add(createIntegration, changeIntegration, rotateIntegration)
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
