import { Context, type Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { OpsApi } from "@tocsin/contract/api/OpsApi"
import type { CoreError } from "../response/failures.ts"

/** A function for each endpoint, from its decoded parameters to its decoded answer. */
export type UseCases<Endpoints extends Readonly<Record<string, HttpApiEndpoint.Constraint>>> = {
  readonly [Name in keyof Endpoints]: (
    request: Parameters<Endpoints[Name]["~Request"]>,
  ) => Effect.Effect<Endpoints[Name]["~Success"]["Type"], CoreError>
}
type Parameters<Request> = Pick<Request, Extract<keyof Request, "params" | "query" | "headers" | "payload">>

type Groups = (typeof OpsApi)["groups"]

/** The use cases of one group of /ops/v1: `satisfies OpsUseCases<"rotas">`. */
export type OpsUseCases<Name extends keyof Groups> = UseCases<Groups[Name]["endpoints"]>

/** Makes the use cases of one group, of the services that they need. */
export type MadeUseCases = {
  readonly [Name in keyof Groups]: {
    readonly group: Name
    readonly make: (services: never) => OpsUseCases<Name>
  }
}[keyof Groups]

/** The use cases of one group, of a service: `useCasesOf("rotas", OnCall, (onCall) => ({ … }))`. */
export const useCasesOf = <const Name extends keyof Groups, Id, Service, Made extends OpsUseCases<Name>>(
  group: Name,
  key: Context.Key<Id, Service>,
  make: (service: Service) => Made,
) => ({ group, make: (services: Context.Context<Id>) => make(Context.get(services, key)) })

/** The services of which a function makes use cases. */
export type ServicesOf<Make> = Make extends (services: Context.Context<infer R>) => unknown ? R : never
