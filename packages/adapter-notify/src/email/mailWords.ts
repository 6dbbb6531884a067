import { Duration } from "effect"
import type { MailAnswer, MailFault, Offer } from "./mailServer.ts"

/** How mails are sent, as far as a fault of it is the settings'. */
export interface MailSettings {
  /** How long an attempt takes up to the end of the text. */
  readonly timeout: Duration.Duration
  readonly port: number
  readonly isSecure: boolean
  readonly needsTls: boolean
  readonly hasLogin: boolean
}

const USE_TLS = "remove tls: off (without a policy, ?tls=off after the address)"
const NO_TLS = "tls: off (without a policy, ?tls=off after the address)"
const LOGIN = "check the user and the password in the receiver's settings; many services want an app password"
const BLOCKED = "it refuses connections from this host's address: use a server that knows you, with a login"

/**
 * Advice, by command, status and the code of RFC 3463; the first match counts. Seen at Postfix 3.7, Exim 4.96,
 * OpenSMTPD 6.8 and Dovecot 2.3 of Debian 12, November 2026, or stated by RFC 4954, 5321, 6531 and 7504.
 */
const ADVICE: ReadonlyArray<readonly [answers: RegExp, advice: string]> = [
  [/^AUTH 5(?:34|\d\d 5\.7\.9)/, "it asks for another way to sign in: create an app password at the service"],
  [/^\w+ 538| 5\.7\.1[01]$/, `it takes a login over TLS alone: ${USE_TLS}`],
  [
    /^AUTH 50[0-4]/,
    `it has no login here, or none with a password: check the port (587 or 465), and ${USE_TLS}`,
  ],
  [/^AUTH 432/, "it wants another password: sign in at the service once, then give the new one"],
  [/^AUTH 4/, "its login does not work at present: see whether the service has an outage"],
  [/^AUTH 5|^\w+ 535| 5\.7\.8$/, LOGIN],
  [
    /^\w+ 530/,
    `it takes mails over TLS or after a login alone: ${USE_TLS}, and give user and password in the address`,
  ],
  [
    /^(?:EHLO|HELO|CONN) 5\d\d 5\.5\.2$|^(?:EHLO|HELO) 5/,
    "it refuses the name of this host: set hello to a name that the DNS has",
  ],
  [/^CONN 5/, BLOCKED],
  [/^\w+ 5\d\d 5\.5\.2$/, "it refuses the name of this host: set hello to a name that the DNS has"],
  [/^\w+ 5\d\d 5\.6\.7$/, "it lacks SMTPUTF8: use addresses of ASCII before the @"],
  [/^(?:MAIL|DATA) 552$| 5\.(?:2\.3|3\.4)$/, "the mail is larger than it takes: set details: false"],
  [/ 5\.4\.5$/, "the account has sent as many mails as it may: wait for a day, or use another account"],
  [/ 5\.4\.(?:6|14)$/, "the mail goes round between its servers: ask its operator to look at its routes"],
  [/^\w+ 5\d\d 5\.7\.6\d\d$/, BLOCKED],
  [
    /^MAIL 5| 5\.7\.60$| 5\.2\.252$/,
    "check from in the receiver's settings: the account may send by its own address alone",
  ],
  // Exchange Online says 5.1.10 and 5.4.1.
  [
    /^RCPT 5\d\d 5\.(?:1\.(?:[0-36]|10)|4\.1)$/,
    "the address does not exist: check to and cc in the receiver's settings",
  ],
  [/^\w+ 5\d\d 5\.2\.[12]$/, "the mailbox is full or closed: check to and cc in the receiver's settings"],
  [
    /^RCPT 5\d\d 5\.7\./,
    "it refuses this sender, or that domain to strangers: check from, and give user and password in the address",
  ],
  // Exim sends no further code.
  [
    /^DATA 5(?:50|54|71)$|^DATA 5\d\d 5\.7\./,
    "it takes the text for spam or unsigned: let its operator allow the sender",
  ],
  [/^\w+ 5/, "check the sender and the recipients in the receiver's settings"],
]

export const codesOf = ({ enhanced, status }: MailAnswer): string =>
  `${status}${enhanced ? ` ${enhanced}` : ""}`

/** An answer in words, with what helps; its text is left out. */
export const answered = (answer: MailAnswer): string => {
  const codes = codesOf(answer)
  const advice = ADVICE.find(([answers]) => answers.test(`${answer.command} ${codes}`))?.[1]
  return `The mail server answered ${codes}${advice === undefined ? "" : `: ${advice}`}.`
}

/** Of a server that lists no login, though the settings have one. */
export const HIDDEN_LOGIN = `The mail server offers no login on this connection: check the port (587 or 465), and ${USE_TLS}.`

const NOT_TRUSTED = "add the authority of its certificate by NODE_EXTRA_CA_CERTS"

/** Advice when the connection or TLS fails, by Node's code. */
const FAILURES: ReadonlyArray<readonly [codes: RegExp, sentence: string]> = [
  [/^ESCAN$/, "The mail server did not say within 10m whether it took the mail: see its log."],
  [
    /ALTNAME|HOSTNAME_MISMATCH|UNRECOGNIZED_NAME/,
    "The certificate of the mail server is for another name: write a name that it states into the address, not an IP address.",
  ],
  [
    /SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|CERT_UNTRUSTED/,
    `The certificate of the mail server is self-signed or of an unknown authority: ${NOT_TRUSTED}.`,
  ],
  [
    /EXPIRED|NOT_YET_VALID/,
    "The certificate of the mail server has expired, or a clock is wrong: check both.",
  ],
  [/REVOKED/, "The certificate of the mail server was revoked: ask its operator to renew it."],
  [
    /CERTIFICATE_REQUIRED/,
    "The mail server takes clients with a certificate alone: use a port or a server that takes a login.",
  ],
  [
    // Node.js calls a key that is too short UNSPECIFIED.
    /^(?:CERT_|INVALID_|PATH_LENGTH|UNABLE_TO_DEC|UNSPECIFIED)|TOO_(?:SMALL|WEAK)/,
    "The certificate or key of the mail server is not valid, such as too short or of an authority that is none: ask its operator to replace it.",
  ],
  [
    /SSL|TLS|CERT|EPROTO/,
    "The TLS connection to the mail server failed: check that it offers TLS 1.2 or newer.",
  ],
]

/** The sentence for a transaction that ended without an answer, or before mails were asked about. */
export const faultWords = (
  { answer, code = "" }: MailFault,
  settings: MailSettings,
  offer: Offer,
): string | undefined => {
  const { isSecure, needsTls, port, timeout } = settings
  if (answer?.command === "STARTTLS" && offer.hasStartTls)
    return `The mail server offers STARTTLS, and answers ${codesOf(answer)}: see its log for why its TLS does not work.`
  // Some answer 220 all the same, and go on in plain text.
  const isUnoffered =
    answer?.command === "STARTTLS" || code === "ETLS" || (!offer.hasStartTls && /SSL|EPROTO$/.test(code))
  if (needsTls && !isSecure && isUnoffered && port !== 465)
    return `STARTTLS is not offered by the mail server on this port: use port 465 (smtps://), or ${NO_TLS}.`
  if (answer !== undefined) return answered(answer)
  if (isSecure && port !== 465 && /SSL|EPROTO|ECONNRESET|ECONNECTION/.test(code))
    return `Port ${port} does not begin with TLS: write smtp:// for STARTTLS, or use port 465.`
  if (!isSecure && port === 465 && /^(?:ELATE|ECONNECTION|ECONNRESET|EPROTOCOL|ETIMEDOUT)$/.test(code))
    return "Port 465 begins with TLS: write smtps:// into the address."
  if (code === "ELATE")
    return `The mail server did not answer within ${Duration.format(timeout)}: check that it is up.`
  return FAILURES.find(([codes]) => codes.test(code))?.[1]
}
