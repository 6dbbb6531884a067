import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import * as enrolments from "../Enrolments.ts"
import * as integrations from "../Integrations.ts"
import * as operators from "../Operators.ts"
import { PageParameters } from "../Parameters.ts"
import { ActionCountResponse, pageOf } from "../Responses.ts"
import * as watches from "../Watches.ts"
import { Conflict, NotFound, PayloadTooLarge, Validation } from "./ApiErrors.ts"
import { OperatorPath } from "./opsResources.ts"
import { IgnoredBody, OperatorAuthentication, role, ValidParameters } from "./operation.ts"

// A schema may be a value of several operations.
const success = ActionCountResponse
const created = [Validation.wire, Conflict.wire, PayloadTooLarge.wire] as const
const changed = [Validation.wire, NotFound.wire, PayloadTooLarge.wire] as const

/** Named operators (docs/rules.md#operators). */
export class NamedOperatorsApi extends HttpApiGroup.make("operators")
  .add(
    role.read.get("me", "/me", { success: operators.Me }),
    role.admin.get("listOperators", "/operators", {
      query: PageParameters,
      success: pageOf(operators.Operator, "OperatorPage"),
    }),
    role.admin.delete("removeOperator", "/operators/:name", { params: OperatorPath, success }),
  )
  // The others read their bodies themselves.
  .middleware(IgnoredBody)
  .add(
    role.admin.post("createOperator", "/operators", {
      payload: operators.CreateOperatorRequest,
      success: operators.OperatorWithToken.pipe(HttpApiSchema.status(201)),
      error: created,
    }),
    role.admin.patch("changeOperator", "/operators/:name", {
      params: OperatorPath,
      payload: operators.ChangeOperatorRequest,
      success: operators.Operator,
      error: changed,
    }),
    role.admin.post("rotateOperator", "/operators/:name/rotate", {
      params: OperatorPath,
      payload: operators.RotateOperatorRequest,
      success: operators.OperatorWithToken,
      error: changed,
    }),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}

/** Enrolments (docs/rules.md#enrolment). */
export class EnrolmentsApi extends HttpApiGroup.make("enrolments")
  .add(
    role.admin.get("listEnrolments", "/enrolments", {
      query: PageParameters,
      success: pageOf(enrolments.Enrolment, "EnrolmentPage"),
    }),
    role.admin.delete("removeEnrolment", "/enrolments/:id", {
      params: enrolments.EnrolmentPath,
      success,
    }),
  )
  .middleware(IgnoredBody)
  .add(
    role.admin.post("createEnrolment", "/enrolments", {
      payload: enrolments.CreateEnrolmentRequest,
      success: enrolments.EnrolmentWithToken.pipe(HttpApiSchema.status(201)),
      error: [Validation.wire, PayloadTooLarge.wire],
    }),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}

/** Integrations (docs/rules.md#integrations). */
export class IntegrationsApi extends HttpApiGroup.make("integrations")
  .add(
    role.read.get("listIntegrations", "/integrations", {
      query: PageParameters,
      success: pageOf(integrations.Integration, "IntegrationPage"),
    }),
    role.read.get("getIntegration", "/integrations/:name", {
      params: integrations.IntegrationPath,
      success: integrations.Integration,
      error: NotFound.wire,
    }),
    role.admin.delete("removeIntegration", "/integrations/:name", {
      params: integrations.IntegrationPath,
      success,
    }),
  )
  .middleware(IgnoredBody)
  .add(
    role.admin.post("createIntegration", "/integrations", {
      payload: integrations.CreateIntegrationRequest,
      success: integrations.IntegrationWithKey.pipe(HttpApiSchema.status(201)),
      error: created,
    }),
    role.admin.patch("changeIntegration", "/integrations/:name", {
      params: integrations.IntegrationPath,
      payload: integrations.ChangeIntegrationRequest,
      success: integrations.Integration,
      error: changed,
    }),
    role.admin.post("rotateIntegration", "/integrations/:name/rotate", {
      params: integrations.IntegrationPath,
      payload: operators.RotateOperatorRequest,
      success: integrations.IntegrationWithKey,
      error: changed,
    }),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}

const watchChanged = [...changed, Conflict.wire] as const

/** Probes of the service (docs/rules.md#watches). */
export class WatchesApi extends HttpApiGroup.make("watches")
  .add(
    role.read.get("listWatches", "/watches", {
      query: PageParameters,
      success: pageOf(watches.Watch, "WatchPage"),
    }),
    role.read.get("getWatch", "/watches/:name", {
      params: watches.WatchPath,
      success: watches.Watch,
      error: NotFound.wire,
    }),
    role.admin.delete("removeWatch", "/watches/:name", {
      params: watches.WatchPath,
      success,
      error: Conflict.wire,
    }),
  )
  .middleware(IgnoredBody)
  .add(
    role.admin.post("tryWatch", "/watches/try", {
      payload: watches.TryWatchRequest,
      success: watches.WatchTrial,
      error: created,
    }),
    role.admin.post("createWatch", "/watches", {
      payload: watches.CreateWatchRequest,
      success: watches.Watch.pipe(HttpApiSchema.status(201)),
      error: created,
    }),
    role.admin.patch("changeWatch", "/watches/:name", {
      params: watches.WatchPath,
      payload: watches.ChangeWatchRequest,
      success: watches.Watch,
      error: watchChanged,
    }),
    role.respond.post("pauseWatch", "/watches/:name/pause", {
      params: watches.WatchPath,
      payload: watches.PauseWatchRequest,
      success: watches.Watch,
      error: watchChanged,
    }),
  )
  .middleware(ValidParameters)
  .middleware(OperatorAuthentication) {}
