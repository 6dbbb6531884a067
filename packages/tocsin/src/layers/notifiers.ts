import type { Ids } from "@tocsin/core/ports/Ids"
import type { Notifiers } from "@tocsin/core/ports/Notifiers"
import { defaultDelivery } from "@tocsin/core/usecases/Delivery"
import { Duration, type Layer } from "effect"
import type { NotifierOption } from "../notifiers/NotifierOption.ts"
import { notifiersLayer } from "../notifiers/notifiersLayer.ts"
import type { TocsinError } from "../TocsinError.ts"

/**
 * The port Notifiers on the notifiers that Tocsin brings and on objects of yours, as `createMonitor` takes them. `lease` is
 * that of the delivery; attempts end before it. Of two with one name the last one counts.
 */
export const notifiers = (
  options: ReadonlyArray<NotifierOption>,
  {
    denyPrivateTargets = false,
    lease = defaultDelivery.lease,
  }: { readonly denyPrivateTargets?: boolean; readonly lease?: Duration.Input } = {},
): Layer.Layer<Notifiers, TocsinError<"options">, Ids> =>
  notifiersLayer(options, { denyPrivateTargets, lease: Duration.fromInputUnsafe(lease) })
