import type { CustomNotifier } from "tocsin"

/** The notifier of a program. */
export const pager = ({ address }: { readonly address: string }): CustomNotifier => ({
  name: "pager",
  send: async ({ text }, { signal }) => {
    await fetch(address, { method: "POST", body: text, signal })
  },
})
