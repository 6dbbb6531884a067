import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import type { Standing } from "../../src/email/handOver.ts"
import { resultOfMail } from "../../src/email/mailResult.ts"
import type { MailAnswer, MailFault } from "../../src/email/mailServer.ts"
import type { MailSettings } from "../../src/email/mailWords.ts"

const SETTINGS: MailSettings = {
  timeout: Duration.seconds(45),
  port: 587,
  isSecure: false,
  needsTls: true,
  hasLogin: false,
}

const answerOf = (text: string): MailAnswer => {
  const [command = "", status, enhanced] = text.split(" ")
  return { command, status: Number(status), enhanced }
}

const judge = (
  standing: Standing,
  fault: MailFault | undefined,
  {
    offersLogin = true,
    offersStartTls = true,
    ...settings
  }: Partial<MailSettings> & { readonly offersLogin?: boolean; readonly offersStartTls?: boolean },
) => {
  const standings = new Map<string, Standing>([["ops@example.org", standing]])
  const offer = { hasUtf8: true, hasLogin: offersLogin, hasStartTls: offersStartTls }
  const { result } = resultOfMail({ standings, fault, offer }, [], { ...SETTINGS, ...settings })
  return `${result.outcome}: ${result.error ?? ""}`
}

describe("the answer for a recipient", () => {
  it.each([
    // Postfix 3.7.11 of Debian 12, November 2026.
    ["RCPT 550 5.1.1", /^refused: .*550 5\.1\.1: the address does not exist/],
    ["RCPT 554 5.7.1", /^refused: .*: it refuses this sender, or that domain to strangers: check from/],
    ["RCPT 450 4.2.0", /^deferred: The mail server answered 450 4\.2\.0\.$/],
    ["RCPT 530 5.7.0", /^deferred: .*: it takes mails over TLS or after a login alone: remove tls: off/],
    ["RCPT 504 5.5.2", /^refused: .*: it refuses the name of this host: set hello/],
    ["MAIL 552 5.3.4", /^refused: .*: the mail is larger than it takes: set details: false/],
    // Exim 4.96 of Debian 12, which sends no codes of RFC 3463.
    ["RCPT 550", /^refused: .*550: check the sender and the recipients/],
    ["RCPT 451", /^deferred: The mail server answered 451\.$/],
    ["DATA 552", /^refused: .*: the mail is larger than it takes/],
    // OpenSMTPD 6.8.0 of Debian 12, for one recipient too many.
    ["RCPT 451 4.5.3", /^deferred: /],
    // As RFC 3463, 4954 and 6531 define them.
    ["RCPT 552 5.2.2", /^refused: .*: the mailbox is full or closed/],
    ["DATA 550 5.7.26", /^refused: .*: it takes the text for spam or unsigned/],
    ["MAIL 550 5.7.60", /^refused: .*: check from in the receiver's settings/],
    ["MAIL 530 5.7.1", /^deferred: /],
    ["DATA 552 5.2.2", /^refused: .*: the mailbox is full or closed/],
    ["DATA 552 5.2.3", /^refused: .*: the mail is larger than it takes/],
    ["RCPT 552 5.2.3", /^refused: .*: the mail is larger than it takes/],
    ["MAIL 535 5.7.8", /^deferred: .*: check the user and the password/],
    ["DATA 554 5.4.6", /^refused: .*: the mail goes round between its servers/],
    ["RCPT 550 5.7.0", /^refused: .*: it refuses this sender/],
    // Exim 4.96, again without a further code.
    ["MAIL 552", /^refused: .*: the mail is larger than it takes/],
    ["DATA 550", /^refused: .*: it takes the text for spam or unsigned/],
    // As Exchange Online and Gmail document them, November 2026.
    ["RCPT 550 5.1.10", /^refused: .*: the address does not exist/],
    ["RCPT 550 5.4.1", /^refused: .*: the address does not exist/],
    ["RCPT 550 5.7.606", /^refused: .*: it refuses connections from this host's address/],
    ["DATA 554 5.2.252", /^refused: .*: check from in the receiver's settings/],
    ["DATA 550 5.7.60", /^refused: .*: check from in the receiver's settings/],
    ["DATA 552 5.7.0", /^refused: .*: it takes the text for spam or unsigned/],
    ["DATA 550 5.4.5", /^refused: .*: the account has sent as many mails as it may/],
  ])("%s is judged with advice", (text, expected) => {
    assert.match(judge(answerOf(text), undefined, {}), expected)
  })

  it("is no refusal for good where the server offers no login that the address has", () => {
    for (const text of ["RCPT 554 5.7.1", "MAIL 550"])
      assert.match(
        judge(answerOf(text), undefined, { hasLogin: true, offersLogin: false, needsTls: false }),
        /^deferred: The mail server offers no login on this connection: check the port \(587 or 465\), and remove tls: off/,
      )
  })
})

describe("an end of the connection", () => {
  const answered = (text: string): MailFault => ({ answer: answerOf(text), code: "EAUTH" })
  const failed = (code: string): MailFault => ({ answer: undefined, code })
  it.each<[string, MailFault, Parameters<typeof judge>[2], RegExp]>([
    ["a wrong password", answered("AUTH 535 5.7.8"), {}, /^deferred: .*: check the user and the password/],
    ["another mechanism", answered("AUTH 534 5.7.9"), {}, /^deferred: .*: create an app password/],
    ["a login over TLS alone", answered("AUTH 538 5.7.11"), {}, /^deferred: .*: remove tls: off/],
    ["no login at all", answered("AUTH 502 5.5.1"), {}, /^deferred: .*: check the port \(587 or 465\)/],
    [
      "a login that is down",
      answered("AUTH 454 4.7.0"),
      {},
      /^deferred: .*: its login does not work at present/,
    ],
    ["an old password", answered("AUTH 432 4.7.12"), {}, /^deferred: .*: it wants another password/],
    [
      "STARTTLS that is offered and does not work",
      answered("STARTTLS 454 4.7.0"),
      {},
      /^deferred: The mail server offers STARTTLS, and answers 454 4\.7\.0: see its log/,
    ],
    ["a blocked host", answered("CONN 554 5.7.1"), {}, /^refused: .*: use a server that knows you/],
    [
      "too many connections",
      answered("CONN 421 4.7.0"),
      {},
      /^deferred: The mail server answered 421 4\.7\.0\.$/,
    ],
    ["a refused name", answered("EHLO 550"), {}, /^refused: .*: set hello to a name/],
    [
      "no STARTTLS",
      { answer: answerOf("STARTTLS 502"), code: "ETLS" },
      { offersStartTls: false },
      /^deferred: STARTTLS is not offered/,
    ],
    [
      "STARTTLS that is answered 220 without an offer, and no TLS",
      failed("ERR_SSL_WRONG_VERSION_NUMBER"),
      { offersStartTls: false },
      /^deferred: STARTTLS is not offered/,
    ],
    [
      "smtps on 587",
      failed("ERR_SSL_WRONG_VERSION_NUMBER"),
      { isSecure: true },
      /^deferred: Port 587 .* write smtp:/,
    ],
    ["smtp on 465", failed("ELATE"), { port: 465 }, /^deferred: Port 465 begins with TLS: write smtps:/],
    [
      "a refused port 465",
      failed("ECONNREFUSED"),
      { port: 465 },
      /^deferred: The receiver refused the connection/,
    ],
    [
      "self-signed",
      failed("DEPTH_ZERO_SELF_SIGNED_CERT"),
      {},
      /: add the authority .* by NODE_EXTRA_CA_CERTS\.$/,
    ],
    ["an unknown authority", failed("UNABLE_TO_GET_ISSUER_CERT_LOCALLY"), {}, /by NODE_EXTRA_CA_CERTS\.$/],
    [
      "another name",
      failed("ERR_TLS_CERT_ALTNAME_INVALID"),
      {},
      /is for another name: write a name that it states/,
    ],
    ["expired", failed("CERT_HAS_EXPIRED"), {}, /has expired, or a clock is wrong/],
    ["an old TLS", failed("ERR_SSL_UNSUPPORTED_PROTOCOL"), {}, /check that it offers TLS 1\.2 or newer/],
    [
      "a name that the server does not know",
      failed("ERR_SSL_TLSV1_UNRECOGNIZED_NAME"),
      {},
      /is for another name/,
    ],
    ["a revoked certificate", failed("CERT_REVOKED"), {}, /was revoked: ask its operator to renew it\.$/],
    [
      "an authority that is none",
      failed("INVALID_CA"),
      {},
      /is not valid, .*: ask its operator to replace it\.$/,
    ],
    [
      "a short key",
      failed("UNSPECIFIED"),
      {},
      /is not valid, such as too short .*: ask its operator to replace it\.$/,
    ],
    [
      "a short key of Diffie and Hellman",
      failed("ERR_SSL_DH_KEY_TOO_SMALL"),
      {},
      /is not valid, such as too short/,
    ],
    [
      "a certificate that clients need",
      failed("ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED"),
      {},
      /takes clients with a certificate alone/,
    ],
    ["a target that is refused", failed("ETARGET"), {}, /^deferred: The request failed \(ETARGET\)/],
  ])("by %s says what helps", (_, fault, settings, expected) => {
    assert.match(judge(undefined, fault, { hasLogin: true, ...settings }), expected)
  })
})
