import type { RequestListener } from "node:http"
import { assert, describe, layer } from "@effect/vitest"
import { createClient } from "@tocsin/client"
import { Effect } from "effect"
import Provider from "oidc-provider"
import { freePort } from "../../bench/src/processes/freePort.ts"
import { OPERATOR_TOKEN } from "../processes/api.ts"
import { AT_LENGTH } from "../properties/atLength.ts"
import { Browser, chromium, openConsole, openContext, signIn, skipped } from "./Console.ts"
import { serve } from "./serve.ts"
import { startProxy } from "./startProxy.ts"
import { startService } from "./Site.ts"

const CLIENT = { id: "tocsin", secret: "the-secret-of-the-client" }

/** An issuer at which everyone is Ann, in groups that the test chooses. */
const openIssuer = (redirectUri: string, groups: () => ReadonlyArray<string>, onLogin: () => void) =>
  Effect.gen(function* () {
    let answer: RequestListener = () => {}
    const issuer = yield* serve((request, response) => answer(request, response))
    const provider = new Provider(issuer, {
      clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
      claims: { openid: ["sub"], profile: ["preferred_username", "groups"], email: ["email"] },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 600, IdToken: 60, Interaction: 60, Session: 600 },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, accountId) => ({
        accountId,
        claims: () => ({ sub: accountId, preferred_username: "Ann", groups: [...groups()] }),
      }),
      loadExistingGrant: async ({ oidc }) => {
        const grant = new provider.Grant({
          accountId: oidc.session?.accountId,
          clientId: oidc.client?.clientId,
        })
        grant.addOIDCScope("openid profile email")
        await grant.save()
        return grant
      },
    })
    const take = provider.callback()
    answer = (request, response) => {
      if (request.url?.startsWith("/interaction/") === true) {
        onLogin()
        void provider.interactionFinished(request, response, { login: { accountId: "7f3a" } })
      } else void take(request, response)
    }
    return issuer
  })

describe.skipIf(chromium === undefined)(`signing in by OpenID Connect${skipped}`, () => {
  layer(Browser.layer, { excludeTestServices: true })((it) => {
    it.effect.each([
      ["its own address", ""],
      // How the page finds its files below a prefix is tried elsewhere.
      ...(AT_LENGTH ? [["a prefix of a proxy", "/watch"] as const] : []),
    ] as const)(
      "at %s leads to acknowledging under one's name, until an admin ends it or the group is gone",
      ([, prefix]) =>
        Effect.gen(function* () {
          const port = yield* Effect.promise(freePort)
          const server = `http://127.0.0.1:${port}`
          const address = prefix === "" ? server : `${yield* startProxy(server)}${prefix}`
          let groups = ["sales", "ops"]
          let logins = 0
          const issuer = yield* openIssuer(
            `${address}/`,
            () => groups,
            () => (logins += 1),
          )
          const { demo } = yield* startService({
            SERVICE_PORT: String(port),
            SERVICE_PUBLIC_URL: address,
            SERVICE_OIDC_ISSUER: issuer,
            SERVICE_OIDC_CLIENT_ID: CLIENT.id,
            SERVICE_OIDC_CLIENT_SECRET: CLIENT.secret,
            SERVICE_OIDC_NAME: "Example",
            SERVICE_OIDC_RESPOND: "ops",
          })
          const [ann, admin] = [yield* openContext, yield* openContext]
          yield* Effect.promise(async () => {
            await demo.join("web-1")
            await demo.report("web-1", [{ check_id: "disk", status: "critical", output: "full" }])
            const { page, faults } = await openConsole(ann, `${address}/#/incidents`)
            const button = page.getByRole("button", { name: "Sign in with Example" })
            await button.click()
            await page.getByRole("link", { name: "Tocsin, home" }).waitFor()
            assert.strictEqual(page.url(), `${address}/#/incidents`)
            const token = await page.evaluate(() => sessionStorage.getItem("tocsin.token") ?? "")
            const client = createClient({ baseUrl: address, token })
            const { items } = await client.incidents.list({ state: "open" })
            const { by } = await client.incidents.acknowledge(items[0]?.id ?? "", { for: "1h" })
            assert.strictEqual(by, "oidc:ann")

            const operators = await openConsole(admin, `${address}/#/operators`)
            await signIn(operators.page, OPERATOR_TOKEN)
            const over = page.getByText("Your session is over. Sign in again.")
            await operators.page.getByRole("button", { name: "End", exact: true }).click()
            await over.waitFor()
            const other = await openConsole(ann, `${address}/#/incidents`)
            for (const each of [page, other.page]) {
              await each.getByRole("button", { name: "Sign in with Example" }).click()
              await each.getByRole("link", { name: "Tocsin, home" }).waitFor()
            }
            const all = operators.page.getByRole("button", { name: "End all" })
            await all.nth(1).waitFor()
            assert.strictEqual(logins, 1)
            await all.first().click()
            await Promise.all([over.waitFor(), other.page.getByText("Your session is over.").waitFor()])

            // The issuer asks before it ends its own session, and for a name when someone comes back.
            await button.click()
            await page.getByRole("button", { name: "Sign out" }).click()
            await page.waitForURL(`${issuer}/session/end?client_id=tocsin`)
            await page.getByRole("button", { name: "Yes, sign me out" }).click()
            await page.getByText("Sign-out Success").waitFor()
            groups = ["sales"]
            await page.goto(`${address}/#/incidents`)
            await button.click()
            await page.getByText("groups has sales").waitFor()
            assert.strictEqual(logins, 2)
            assert.strictEqual(new URL(page.url()).search, "")
            assert.deepStrictEqual([faults, operators.faults], [[], []])
          })
        }),
    )
  })
})
