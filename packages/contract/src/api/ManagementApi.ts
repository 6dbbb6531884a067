import { HttpApiSchema } from "effect/http-api"
import * as enrolments from "../Enrolments.ts"
import * as integrations from "../Integrations.ts"
import * as operators from "../Operators.ts"
import { ActionCountResponse } from "../Responses.ts"
import * as watches from "../Watches.ts"
import { Conflict, NotFound } from "./ApiErrors.ts"
import { OperatorPath } from "./opsResources.ts"
import { operatorsGroup, paged, role } from "./operation.ts"

// A schema may be a value of several operations.
const success = ActionCountResponse
const error = NotFound.wire
const operator = { params: OperatorPath }
const integration = { params: integrations.IntegrationPath }
const watch = { params: watches.WatchPath, success: watches.Watch }

/** Named operators (docs/rules.md#operators). */
export class NamedOperatorsApi extends operatorsGroup(
  "operators",
  role.read.get("me", "/me", { success: operators.Me }),
  role.admin.get("listOperators", "/operators", paged(operators.Operator, "OperatorPage")),
  role.admin.delete("removeOperator", "/operators/:name", { ...operator, success }),
  role.admin.post("createOperator", "/operators", {
    payload: operators.CreateOperatorRequest,
    success: operators.OperatorWithToken.pipe(HttpApiSchema.status(201)),
    error: Conflict.wire,
  }),
  role.admin.patch("changeOperator", "/operators/:name", {
    ...operator,
    payload: operators.ChangeOperatorRequest,
    success: operators.Operator,
    error,
  }),
  role.admin.post("rotateOperator", "/operators/:name/rotate", {
    ...operator,
    payload: operators.RotateOperatorRequest,
    success: operators.OperatorWithToken,
    error,
  }),
) {}

/** Enrolments (docs/rules.md#enrolment). */
export class EnrolmentsApi extends operatorsGroup(
  "enrolments",
  role.admin.get("listEnrolments", "/enrolments", paged(enrolments.Enrolment, "EnrolmentPage")),
  role.admin.delete("removeEnrolment", "/enrolments/:id", { params: enrolments.EnrolmentPath, success }),
  role.admin.post("createEnrolment", "/enrolments", {
    payload: enrolments.CreateEnrolmentRequest,
    success: enrolments.EnrolmentWithToken.pipe(HttpApiSchema.status(201)),
  }),
) {}

/** Integrations (docs/rules.md#integrations). */
export class IntegrationsApi extends operatorsGroup(
  "integrations",
  role.read.get("listIntegrations", "/integrations", paged(integrations.Integration, "IntegrationPage")),
  role.read.get("getIntegration", "/integrations/:name", {
    ...integration,
    success: integrations.Integration,
    error,
  }),
  role.admin.delete("removeIntegration", "/integrations/:name", { ...integration, success }),
  role.admin.post("createIntegration", "/integrations", {
    payload: integrations.CreateIntegrationRequest,
    success: integrations.IntegrationWithKey.pipe(HttpApiSchema.status(201)),
    error: Conflict.wire,
  }),
  role.admin.patch("changeIntegration", "/integrations/:name", {
    ...integration,
    payload: integrations.ChangeIntegrationRequest,
    success: integrations.Integration,
    error,
  }),
  role.admin.post("rotateIntegration", "/integrations/:name/rotate", {
    ...integration,
    payload: operators.RotateOperatorRequest,
    success: integrations.IntegrationWithKey,
    error,
  }),
) {}

/** Probes of the service (docs/rules.md#watches). */
export class WatchesApi extends operatorsGroup(
  "watches",
  role.read.get("listWatches", "/watches", paged(watches.Watch, "WatchPage")),
  role.read.get("getWatch", "/watches/:name", { ...watch, error }),
  role.admin.delete("removeWatch", "/watches/:name", { ...watch, success, error: Conflict.wire }),
  role.admin.post("tryWatch", "/watches/try", {
    payload: watches.TryWatchRequest,
    success: watches.WatchTrial,
    error: Conflict.wire,
  }),
  role.admin.post("createWatch", "/watches", {
    payload: watches.CreateWatchRequest,
    success: watches.Watch.pipe(HttpApiSchema.status(201)),
    error: Conflict.wire,
  }),
  role.admin.patch("changeWatch", "/watches/:name", {
    ...watch,
    payload: watches.ChangeWatchRequest,
    error: [NotFound.wire, Conflict.wire],
  }),
  role.respond.post("pauseWatch", "/watches/:name/pause", {
    ...watch,
    payload: watches.PauseWatchRequest,
    error: [NotFound.wire, Conflict.wire],
  }),
) {}
