import { hostname } from "node:os"
import type { OwnValues, PlacedSettings, Rules } from "../../parts.ts"
import { publicUrlIn } from "../settings/publicUrlIn.ts"
import * as type from "../../settings/settingTypes.ts"

const { setting } = type

/** Reports of other senders (docs/rules.md#integrations), and their mails (docs/mail.md). */
export const settings = {
  SERVICE_REGISTRATION_RATE: {
    SERVICE_INTEGRATION_RATE: setting(type.rate, "requests allowed for each integration", {
      fallback: "6000/3000",
    }),
    SERVICE_INTEGRATION_CHECK_RATE: setting(type.rate, "requests allowed for each check of an integration", {
      fallback: "60/20",
    }),
  },
  SERVICE_PUBLIC_URL: {
    SERVICE_MAIL_PORT: setting(
      type.wholeNumber(0, 65_535),
      "port to take mails on for integrations of kind mail (docs/mail.md); 0 lets the system choose",
      { whenUnset: "no mails are taken" },
    ),
    SERVICE_MAIL_HOST: setting(
      type.text("a host name or an IP address"),
      "address to take mails on; 0.0.0.0 or :: for all",
      { fallback: "127.0.0.1" },
    ),
    SERVICE_MAIL_DOMAIN: setting(
      type.word("a domain, such as tocsin.example.org"),
      "domain of the addresses of integrations; mails to any other are taken, too",
      { whenUnset: "the host of SERVICE_PUBLIC_URL, else the machine's name" },
    ),
    SERVICE_MAIL_PROTOCOL: setting(
      type.oneOf(["smtp", "lmtp"]),
      "protocol of the listener for mails; lmtp behind a mail server of your own",
      { fallback: "smtp" },
    ),
    SERVICE_MAIL_TLS_CERT: setting(
      type.text("the path of a PEM file"),
      "certificate with which the listener for mails offers STARTTLS; needs SERVICE_MAIL_TLS_KEY",
      { whenUnset: "no TLS" },
    ),
    SERVICE_MAIL_TLS_KEY: setting(
      type.text("the path of a PEM file"),
      "private key of SERVICE_MAIL_TLS_CERT",
      { whenUnset: "no TLS" },
    ),
  },
} satisfies PlacedSettings

type Values = OwnValues<typeof settings> & Parameters<typeof publicUrlIn>[0]

/** The domain of the addresses of integrations that take mail. */
export const mailDomainOf = ({ SERVICE_MAIL_DOMAIN: domain, ...others }: Values): string => {
  const url = publicUrlIn(others)
  return (domain ?? (url === undefined ? hostname() : new URL(url).hostname)).toLowerCase()
}

export const rules = (given: Values) =>
  ({
    integrationRate: given.SERVICE_INTEGRATION_RATE,
    integrationCheckRate: given.SERVICE_INTEGRATION_CHECK_RATE,
    mailDomain: () => mailDomainOf(given),
  }) satisfies Rules
