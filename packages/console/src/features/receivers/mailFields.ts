import type { FormField, Texts } from "../../view/FormField.ts"

/** An address of a server that holds its credentials, as fields: browsers and people escape differently. */
export const MAIL_PARTS = {
  "url.host": {
    label: "Mail server",
    example: "mail.example.org",
    hint: "Blank: the shared one, or SERVICE_SMTP_URL.",
  },
  "url.port": { label: "Port", type: "number", initial: "587", hint: "TLS on 465, STARTTLS on others." },
  "url.user": { label: "User" },
  "url.password": { label: "Password", type: "password" },
} as const satisfies Readonly<Record<string, FormField>>

/** The fields of a mail server. Those of a stored address are not shown. */
export const mailFields = (former: object | undefined, refusedAs?: RegExp) => {
  const unchanged = former === undefined ? {} : { example: "unchanged", initial: "" }
  return {
    ...MAIL_PARTS,
    "url.host": {
      ...MAIL_PARTS["url.host"],
      ...unchanged,
      ...(former && { hint: undefined }),
      ...(refusedAs && { refusedAs }),
    },
    "url.port": { ...MAIL_PARTS["url.port"], ...unchanged },
  }
}

/** Its address, with what signs in; empty without a host. */
export const mailAddress = (texts: Texts): string => {
  const [host = "", port = "", user = "", password = ""] = Object.keys(MAIL_PARTS).map((name) => texts[name])
  if (host === "") return ""
  const who = user === "" ? "" : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
  return `${port === "465" ? "smtps" : "smtp"}://${who}${host}:${port || MAIL_PARTS["url.port"].initial}`
}
