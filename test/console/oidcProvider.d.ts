// The part of the package that the tests use; it has no types.
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http"

  class Grant {
    constructor(of: { readonly accountId: string | undefined; readonly clientId: string | undefined })
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  interface Context {
    readonly oidc: {
      readonly session?: { readonly accountId?: string }
      readonly client?: { readonly clientId: string }
    }
  }

  interface Configuration {
    readonly clients: ReadonlyArray<object>
    readonly claims: Readonly<Record<string, ReadonlyArray<string>>>
    readonly pkce: { readonly required: () => boolean }
    readonly features: object
    readonly ttl: Readonly<Record<string, number>>
    readonly interactions: {
      readonly url: (context: Context, interaction: { readonly uid: string }) => string
    }
    readonly findAccount: (context: Context, accountId: string) => object
    readonly loadExistingGrant: (context: Context) => Promise<Grant>
  }

  export default class Provider {
    constructor(issuer: string, configuration: Configuration)
    readonly Grant: typeof Grant
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }
}
