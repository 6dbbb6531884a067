import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { authorizationOf, hostOf, HTTP, parseTarget, SMTP } from "../../src/http/Target.ts"

const verdict = (address: string, denyPrivateTargets: boolean): "allowed" | string => {
  const target = parseTarget(Redacted.make(address), { denyPrivateTargets })
  return Result.isSuccess(target) ? "allowed" : target.failure
}

describe("the host of an address", () => {
  it.each([
    ["https://münchen.example./", "xn--mnchen-3ya.example."],
    ["smtp://münchen.example", "xn--mnchen-3ya.example"],
    ["smtps://m%C3%BCnchen.example:465", "xn--mnchen-3ya.example"],
    ["smtp://Mail.example.", "mail.example."],
    ["smtp://127.1", "127.0.0.1"],
    ["smtp://[::1]:25", "::1"],
  ])("%s is %s", (address, host) => {
    const target = parseTarget(
      Redacted.make(address),
      { denyPrivateTargets: false },
      address.startsWith("smtp") ? SMTP : HTTP,
    )
    assert.strictEqual(hostOf(Result.getOrThrow(target).url), host)
  })

  it("of mails is never link-local or metadata, in any notation", () => {
    for (const host of ["0xa9fea9fe", "169.254.43518", "１６９.254.169.254", "%31%36%39.254.169.254"]) {
      const target = parseTarget(Redacted.make(`smtp://${host}`), { denyPrivateTargets: false }, SMTP)
      assert.isTrue(Result.isFailure(target), host)
    }
  })
})

describe("a target", () => {
  it.each([
    "",
    "receiver.example",
    "//receiver.example/hook",
    "ftp://receiver.example/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "unix:/run/receiver.sock",
    "data:text/plain,x",
    "http://",
    "http://[::1",
    "http://169.254.169.256/",
    "https://receiver.example:99999/",
  ])("must be http or https: %j is not", (address) => {
    assert.strictEqual(verdict(address, false), "must be a URL that begins with http:// or https://")
  })

  it.each([
    ["the usual notation", "169.254.169.254"],
    ["all of link-local", "169.254.0.1"],
    ["all of link-local, to its end", "169.254.255.255"],
    ["a trailing dot", "169.254.169.254."],
    ["hexadecimal", "0xA9FEA9FE"],
    ["decimal", "2852039166"],
    ["octal", "0251.0376.0251.0376"],
    ["fewer parts", "169.254.43518"],
    ["mixed", "0xa9.254.0251.254"],
    ["full-width digits", "１６９.254.169.254"],
    ["percent-encoded", "%31%36%39.254.169.254"],
    ["mapped to IPv6", "[::ffff:169.254.169.254]"],
    ["mapped to IPv6, in hex", "[::FFFF:A9FE:A9FE]"],
    ["compatible IPv6", "[::169.254.169.254]"],
    ["through NAT64", "[64:ff9b::a9fe:a9fe]"],
    ["through 6to4", "[2002:a9fe:a9fe::1]"],
    ["translated (SIIT)", "[::ffff:0:169.254.169.254]"],
    ["through NAT64 of the network, /48", "[64:ff9b:1:a9fe:a9:fe00::]"],
    ["through NAT64 of the network, /56", "[64:ff9b:1:12a9:fe:a9fe::]"],
    ["through NAT64 of the network, /64", "[64:ff9b:1:1234:a9:fea9:fe00:0]"],
    ["through NAT64 of the network, /96", "[64:ff9b:1:1234:5678:9abc:a9fe:a9fe]"],
    ["through Teredo", "[2001:0:4136:e378:8000:63bf:5601:5601]"],
    ["at a Teredo server", "[2001:0:a9fe:a9fe:8000:63bf:1:1]"],
    ["IPv6 link-local", "[fe80::1]"],
    ["IPv6 link-local, to its end", "[febf:ffff::1]"],
    ["AWS over IPv6", "[fd00:ec2::254]"],
    ["AWS credentials of pods", "[fd00:ec2::23]"],
    ["Google over IPv6", "[fd20:ce::254]"],
    ["Scaleway over IPv6", "[fd00:42::42]"],
    ["Alibaba Cloud", "100.100.100.200"],
    ["Azure", "168.63.129.16"],
    ["Oracle Cloud", "192.0.0.192"],
  ])("is never link-local or metadata: %s", (_name, host) => {
    assert.strictEqual(
      verdict(`http://${host}/`, false),
      "must not be a link-local or cloud metadata address",
    )
    assert.match(verdict(`https://user:pass@${host}:8443/x`, true), /^must not be a link-local/)
  })

  it.each([
    "127.0.0.1",
    "127.1",
    "0.0.0.0",
    "10.0.0.7",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "100.127.255.255",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[::ffff:10.0.0.7]",
    "[64:ff9b::10.0.0.7]",
    "[64:ff9b:1::1]",
    "[2002:c0a8:101::1]",
    "[fc00::1]",
    "[fd12:3456::1]",
    "[fec0::1]",
    "[ff02::1]",
    "192.88.99.1",
    "[::ffff:0:10.0.0.7]",
    "[2001::1]",
    "[2001:2::1]",
    "[2001:2:0:ffff::1]",
    "[2001:10::1]",
    "[2001:1f:ffff::1]",
    "[3fff::1]",
    "[3fff:fff::1]",
    "[5f00::1]",
    "[100:0:0:1::1]",
  ])("%s is private: allowed unless that is denied", (host) => {
    assert.strictEqual(verdict(`http://${host}:9093/`, false), "allowed")
    assert.strictEqual(
      verdict(`http://${host}:9093/`, true),
      "must not be a link-local or cloud metadata address, nor a private one",
    )
  })

  it.each([
    "8.8.8.8",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "168.63.129.17",
    "[2606:4700:4700::1111]",
    "[2a00:1450::1]",
    "[::ffff:8.8.8.8]",
    "[::ffff:0:8.8.8.8]",
    "[64:ff9b::8.8.8.8]",
    "[2001:1::1]",
    "[2001:2:1::1]",
    "[2001:20::1]",
    "[3fff:1000::1]",
    "[5f01::1]",
    "192.88.98.1",
    "receiver.example",
    "169.254.169.254.example",
  ])("%s is allowed either way", (host) => {
    assert.strictEqual(verdict(`https://${host}/`, false), "allowed")
    assert.strictEqual(verdict(`https://${host}/`, true), "allowed")
  })

  it("keeps userinfo and fragment out of the address", () => {
    const target = Result.getOrThrow(
      parseTarget(Redacted.make("https://user:pass@receiver.example/p?q#f"), { denyPrivateTargets: false }),
    )
    assert.strictEqual(target.url.href, "https://receiver.example/p?q")
    assert.strictEqual(authorizationOf(target), `Basic ${btoa("user:pass")}`)
  })

  it("takes a user without a password, and a password without a user", () => {
    const credentials = (userinfo: string) => {
      const address = Redacted.make(`https://${userinfo}@receiver.example/`)
      return authorizationOf(Result.getOrThrow(parseTarget(address, { denyPrivateTargets: false })))
    }
    assert.strictEqual(credentials("user"), `Basic ${btoa("user:")}`)
    assert.strictEqual(credentials(":token"), `Basic ${btoa(":token")}`)
  })

  it("says what to do about a % that encodes nothing, without repeating it", () => {
    const message = verdict("https://user:100%zz@receiver.example/", false)
    assert.strictEqual(message, "must have a percent-encoded user name and password (write % as %25)")
  })
})
