import { basic, form, type ServiceKeys } from "./Service.ts"

/** Where Twilio's API is; other services have the same API. */
export const TWILIO = "https://api.twilio.com"

/** Makes a resource of an account at Twilio (twilio.com/docs, "Make API requests", November 2026). */
export const twilioRequest = (
  resource: "Calls" | "Messages",
  fields: Readonly<Record<string, string>>,
  { definition: { account = "", to = "" }, path, token, user }: ServiceKeys,
) => ({
  path: `${path}/2010-04-01/Accounts/${account}/${resource}.json`,
  headers: basic(user || account, token),
  ...form({ To: to, ...fields }),
})
