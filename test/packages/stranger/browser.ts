// The client in a page: no declaration of Node's is there.
import { createClient, isTocsinClientError } from "tocsin/client"

const client = createClient({ baseUrl: location.origin, token: "read-only" })

/** Fills the page. */
export const show = async (): Promise<void> => {
  try {
    for await (const { summary } of client.incidents.all({ state: "open" })) {
      document.body.append(summary ?? "", document.createElement("br"))
    }
  } catch (error) {
    if (isTocsinClientError(error) && error.code === "unauthorized")
      document.body.textContent = "Give another token."
    else throw error
  }
}
