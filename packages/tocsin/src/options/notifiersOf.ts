import type { Ids } from "@tocsin/core/ports/Ids"
import type { Notifiers } from "@tocsin/core/ports/Notifiers"
import type { Duration, Layer } from "effect"
import { debug } from "../notifiers/builtInNotifiers.ts"
import { notifierProblems } from "../notifiers/notifierProblems.ts"
import { notifiersLayer } from "../notifiers/notifiersLayer.ts"
import type { TocsinError } from "../TocsinError.ts"
import type { MonitorOptions } from "./MonitorOptions.ts"
import type { Problems } from "./Problems.ts"

/** The notifiers of options; notes what is wrong with them. */
export const notifiersOf = (
  options: MonitorOptions | undefined,
  lease: Duration.Duration,
  problems: Problems,
): Layer.Layer<Notifiers, TocsinError<"options">, Ids> => {
  const denyPrivateTargets = problems.flag("denyPrivateTargets", options?.denyPrivateTargets) ?? false
  const notifiers = options?.notifiers ?? [debug()]
  for (const problem of notifierProblems(notifiers, { denyPrivateTargets })) problems.add(problem)
  return notifiersLayer(notifiers, { denyPrivateTargets, lease })
}
