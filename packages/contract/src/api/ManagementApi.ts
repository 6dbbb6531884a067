import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import * as enrolments from "../Enrolments.ts"
import * as integrations from "../Integrations.ts"
import * as operators from "../Operators.ts"
import { PageParameters } from "../Parameters.ts"
import { ActionCountResponse, pageOf } from "../Responses.ts"
import * as watches from "../Watches.ts"
import { Conflict, NotFound, PayloadTooLarge, Validation } from "./ApiErrors.ts"
import { OperatorPath } from "./opsResources.ts"
import { IgnoredBody, OperatorAuthentication, RequiredRole, ValidParameters } from "./operation.ts"

// A schema may be a value of several operations.
const success = ActionCountResponse
const created = [Validation.wire, Conflict.wire, PayloadTooLarge.wire] as const
const changed = [Validation.wire, NotFound.wire, PayloadTooLarge.wire] as const

/** Named operators (docs/rules.md#operators). */
export class NamedOperatorsApi extends HttpApiGroup.make("operators")
  .add(
    HttpApiEndpoint.get("me", "/me", { success: operators.Me }).annotate(RequiredRole, "read"),
    HttpApiEndpoint.get("listOperators", "/operators", {
      query: PageParameters,
      success: pageOf(operators.Operator, "OperatorPage"),
    }).annotate(RequiredRole, "admin"),
    HttpApiEndpoint.delete("removeOperator", "/operators/:name", { params: OperatorPath, success }).annotate(
      RequiredRole,
      "admin",
    ),
  )
  // The others read their bodies themselves.
  .middleware(IgnoredBody)
  .add(
    HttpApiEndpoint.post("createOperator", "/operators", {
      payload: operators.CreateOperatorRequest,
      success: operators.OperatorWithToken.pipe(HttpApiSchema.status(201)),
      error: created,
    }).annotate(RequiredRole, "admin"),
    HttpApiEndpoint.patch("changeOperator", "/operators/:name", {
      params: OperatorPath,
      payload: operators.ChangeOperatorRequest,
      success: operators.Operator,
      error: changed,
    }).annotate(RequiredRole, "admin"),
    HttpApiEndpoint.post("rotateOperator", "/operators/:name/rotate", {
      params: OperatorPath,
      payload: operators.RotateOperatorRequest,
      success: operators.OperatorWithToken,
      error: changed,
    }).annotate(RequiredRole, "admin"),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}

/** Enrolments (docs/rules.md#enrolment). */
export class EnrolmentsApi extends HttpApiGroup.make("enrolments")
  .add(
    HttpApiEndpoint.get("listEnrolments", "/enrolments", {
      query: PageParameters,
      success: pageOf(enrolments.Enrolment, "EnrolmentPage"),
    }).annotate(RequiredRole, "admin"),
    HttpApiEndpoint.delete("removeEnrolment", "/enrolments/:id", {
      params: enrolments.EnrolmentPath,
      success,
    }).annotate(RequiredRole, "admin"),
  )
  .middleware(IgnoredBody)
  .add(
    HttpApiEndpoint.post("createEnrolment", "/enrolments", {
      payload: enrolments.CreateEnrolmentRequest,
      success: enrolments.EnrolmentWithToken.pipe(HttpApiSchema.status(201)),
      error: [Validation.wire, PayloadTooLarge.wire],
    }).annotate(RequiredRole, "admin"),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}

/** Integrations (docs/rules.md#integrations). */
export class IntegrationsApi extends HttpApiGroup.make("integrations")
  .add(
    HttpApiEndpoint.get("listIntegrations", "/integrations", {
      query: PageParameters,
      success: pageOf(integrations.Integration, "IntegrationPage"),
    }).annotate(RequiredRole, "read"),
    HttpApiEndpoint.get("getIntegration", "/integrations/:name", {
      params: integrations.IntegrationPath,
      success: integrations.Integration,
      error: NotFound.wire,
    }).annotate(RequiredRole, "read"),
    HttpApiEndpoint.delete("removeIntegration", "/integrations/:name", {
      params: integrations.IntegrationPath,
      success,
    }).annotate(RequiredRole, "admin"),
  )
  .middleware(IgnoredBody)
  .add(
    HttpApiEndpoint.post("createIntegration", "/integrations", {
      payload: integrations.CreateIntegrationRequest,
      success: integrations.IntegrationWithKey.pipe(HttpApiSchema.status(201)),
      error: created,
    }).annotate(RequiredRole, "admin"),
    HttpApiEndpoint.patch("changeIntegration", "/integrations/:name", {
      params: integrations.IntegrationPath,
      payload: integrations.ChangeIntegrationRequest,
      success: integrations.Integration,
      error: changed,
    }).annotate(RequiredRole, "admin"),
    HttpApiEndpoint.post("rotateIntegration", "/integrations/:name/rotate", {
      params: integrations.IntegrationPath,
      payload: operators.RotateOperatorRequest,
      success: integrations.IntegrationWithKey,
      error: changed,
    }).annotate(RequiredRole, "admin"),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}

const watchChanged = [...changed, Conflict.wire] as const

/** Probes of the service (docs/rules.md#watches). */
export class WatchesApi extends HttpApiGroup.make("watches")
  .add(
    HttpApiEndpoint.get("listWatches", "/watches", {
      query: PageParameters,
      success: pageOf(watches.Watch, "WatchPage"),
    }).annotate(RequiredRole, "read"),
    HttpApiEndpoint.get("getWatch", "/watches/:name", {
      params: watches.WatchPath,
      success: watches.Watch,
      error: NotFound.wire,
    }).annotate(RequiredRole, "read"),
    HttpApiEndpoint.delete("removeWatch", "/watches/:name", {
      params: watches.WatchPath,
      success,
      error: Conflict.wire,
    }).annotate(RequiredRole, "admin"),
  )
  .middleware(IgnoredBody)
  .add(
    HttpApiEndpoint.post("tryWatch", "/watches/try", {
      payload: watches.TryWatchRequest,
      success: watches.WatchTrial,
      error: created,
    }).annotate(RequiredRole, "admin"),
    HttpApiEndpoint.post("createWatch", "/watches", {
      payload: watches.CreateWatchRequest,
      success: watches.Watch.pipe(HttpApiSchema.status(201)),
      error: created,
    }).annotate(RequiredRole, "admin"),
    HttpApiEndpoint.patch("changeWatch", "/watches/:name", {
      params: watches.WatchPath,
      payload: watches.ChangeWatchRequest,
      success: watches.Watch,
      error: watchChanged,
    }).annotate(RequiredRole, "admin"),
    HttpApiEndpoint.post("pauseWatch", "/watches/:name/pause", {
      params: watches.WatchPath,
      payload: watches.PauseWatchRequest,
      success: watches.Watch,
      error: watchChanged,
    }).annotate(RequiredRole, "respond"),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
