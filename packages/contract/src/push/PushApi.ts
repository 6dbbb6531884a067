import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import {
  NewSubscription,
  PushKey,
  PushState,
  Subscription,
  SubscriptionListParameters,
  SubscriptionPath,
  SubscriptionRequest,
} from "./Push.ts"
import { ActionCountResponse, pageOf } from "../v1/Responses.ts"
import { Conflict, NotFound } from "../api/ApiErrors.ts"
import { operatorsGroup, role } from "../api/operation.ts"
import { NotifierTest } from "../api/opsResources.ts"

const subscription = { params: SubscriptionPath, error: NotFound.wire }

/** Browsers that get notifications (docs/rules.md#browsers). */
export class PushApi extends operatorsGroup(
  "push",
  role.read.get("getPush", "/push", { success: PushState }),
  role.admin.post("replacePushKey", "/push/key", { success: PushKey, error: Conflict.wire }),
  role.read.get("listSubscriptions", "/subscriptions", {
    query: SubscriptionListParameters,
    success: pageOf(Subscription, "SubscriptionPage"),
  }),
  role.read.post("createSubscription", "/subscriptions", {
    headers: Schema.Struct({
      "user-agent": Schema.optionalKey(
        Schema.String.annotate({ description: "By which the browser is named unless the body does." }),
      ),
    }),
    payload: SubscriptionRequest,
    success: [NewSubscription.pipe(HttpApiSchema.status(201)), Subscription],
    error: Conflict.wire,
  }),
  role.read.delete("removeSubscription", "/subscriptions/:id", {
    ...subscription,
    success: ActionCountResponse,
  }),
  role.read.post("testSubscription", "/subscriptions/:id/test", { ...subscription, success: NotifierTest }),
) {}
