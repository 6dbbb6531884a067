import { assert, describe, it } from "@effect/vitest"
import type { Place } from "../../src/config/Reader.ts"
import { placeRules, reachedBy } from "../../src/watches/PlaceRules.ts"
import { placeTargets } from "../../src/watches/placeChecks.ts"

const OFFICE = ["10.1.0.0/16", "192.168.7.9", "fd12:3456::/32", "*.shop.example", "db", "Intern.Example"]

describe("the targets that a place may reach", () => {
  it.each<[allow: ReadonlyArray<string>, address: string, name: string | undefined, may: boolean]>([
    // `public`: no special range, in any notation of an address.
    [["public"], "93.184.216.34", undefined, true],
    [["public"], "2606:2800:220:1::1", undefined, true],
    [["public"], "::ffff:93.184.216.34", undefined, true],
    [["public"], "127.0.0.1", undefined, false],
    [["public"], "0.0.0.0", undefined, false],
    [["public"], "::1", undefined, false],
    [["public"], "::", undefined, false],
    [["public"], "::ffff:127.0.0.1", undefined, false],
    [["public"], "::ffff:7f00:1", undefined, false],
    [["public"], "64:ff9b::7f00:1", undefined, false],
    [["public"], "2002:7f00:1::", undefined, false],
    [["public"], "10.0.0.1", undefined, false],
    [["public"], "172.16.0.1", undefined, false],
    [["public"], "172.32.0.1", undefined, true],
    [["public"], "192.168.0.1", undefined, false],
    [["public"], "64:ff9b::a00:1", undefined, false],
    [["public"], "fd00::1", undefined, false],
    [["public"], "100.64.0.1", undefined, false],
    [["public"], "100.127.255.255", undefined, false],
    [["public"], "100.128.0.1", undefined, true],
    [["public"], "169.254.1.1", undefined, false],
    [["public"], "fe80::1", undefined, false],
    [["public"], "fe80::1%eth0", undefined, false],
    [["public"], "224.0.0.1", undefined, false],
    [["public"], "ff02::1", undefined, false],
    [["public"], "192.0.2.1", undefined, false],
    [["public"], "198.51.100.1", undefined, false],
    [["public"], "203.0.113.1", undefined, false],
    [["public"], "2001:db8::1", undefined, false],
    [["public"], "240.0.0.1", undefined, false],
    [["public"], "255.255.255.255", undefined, false],
    [["public"], "168.63.129.16", undefined, false],
    // A name of a private address is not public either.
    [["public"], "10.0.0.1", "web.shop.example", false],
    // Networks and addresses.
    [OFFICE, "10.1.2.3", undefined, true],
    [OFFICE, "::ffff:10.1.2.3", undefined, true],
    [OFFICE, "10.2.0.1", undefined, false],
    [OFFICE, "192.168.7.9", undefined, true],
    [OFFICE, "192.168.7.8", undefined, false],
    [OFFICE, "fd12:3456::7", undefined, true],
    [OFFICE, "fd13::7", undefined, false],
    [OFFICE, "93.184.216.34", undefined, false],
    [["127.0.0.1"], "127.0.0.1", undefined, true],
    [["127.0.0.1"], "127.0.0.2", undefined, false],
    // Patterns of names: whole ones, in any case.
    [OFFICE, "10.9.9.9", "web.shop.example", true],
    [OFFICE, "10.9.9.9", "WEB.Shop.Example.", true],
    [OFFICE, "93.184.216.34", "a.b.shop.example", true],
    [OFFICE, "10.9.9.9", "shop.example", false],
    [OFFICE, "10.9.9.9", "evilshop.example", false],
    [OFFICE, "10.9.9.9", "web.shop.example.evil", false],
    [OFFICE, "10.9.9.9", "intern.example", true],
    [OFFICE, "10.9.9.9", "x.intern.example", false],
    [OFFICE, "10.9.9.9", "db", true],
    [OFFICE, "10.9.9.9", "db2", false],
    // Not by a name: loopback; by nothing: link-local and metadata addresses.
    [OFFICE, "127.0.0.1", "web.shop.example", false],
    [OFFICE, "::ffff:127.0.0.1", "web.shop.example", false],
    [OFFICE, "169.254.169.254", "web.shop.example", false],
    [["0.0.0.0/0", "public"], "169.254.169.254", undefined, false],
    [["0.0.0.0/0", "::/0"], "::ffff:169.254.169.254", undefined, false],
    [["::/0"], "64:ff9b::a9fe:a9fe", undefined, false],
    [["100.64.0.0/10"], "100.100.100.200", undefined, false],
    [["fd00::/8"], "fd00:ec2::254", undefined, false],
    // Names instead of addresses.
    [["public"], "2130706433", undefined, false],
    [["public"], "localhost", undefined, false],
  ])("%j: %s of %s: %s", (allow, address, name, may) => {
    assert.strictEqual(reachedBy({ allow }).mayReach(address, name), may)
  })

  it.each<[allow: ReadonlyArray<string>, name: string, may: boolean]>([
    [["public"], "anything.example", true],
    [OFFICE, "web.shop.example", true],
    [OFFICE, "shop.example", false],
    [["10.0.0.0/8"], "web.shop.example", false],
  ])("%j resolves %s: %s", (allow, name, may) => {
    assert.strictEqual(reachedBy({ allow }).mayResolve(name), may)
  })
})

describe("the targets of a run", () => {
  const resolving = (...addresses: ReadonlyArray<string>) => resolvingBy(["public"], ...addresses)
  const resolvingBy = (allow: ReadonlyArray<string>, ...addresses: ReadonlyArray<string>) => {
    const resolve = (_: string, __: object, callback: (error: null, found: ReadonlyArray<object>) => void) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      )
    // Called as `dns.lookup` is with `all`.
    return placeTargets(reachedBy({ allow }), resolve as never)
  }
  const looked = (found: ReturnType<typeof placeTargets>) =>
    new Promise<unknown>((resolve) =>
      found.targets.lookup("x.example", { all: true }, (error, addresses) =>
        resolve(error?.message ?? addresses),
      ),
    )

  it("are those of a name's addresses that may be reached", async () => {
    const found = resolving("10.0.0.1", "93.184.216.34", "127.0.0.1")
    assert.deepStrictEqual(await looked(found), [{ address: "93.184.216.34", family: 4 }])
    assert.isUndefined(found.refused())
  })

  it("say that none was allowed", async () => {
    const found = resolving("10.0.0.1", "::1")
    assert.strictEqual(await looked(found), "x.example may not be reached from this place")
    assert.match(found.refused() ?? "", /^x\.example may not be reached from this place: /)
  })

  it("refuse records of addresses, and show none", () => {
    const found = resolving()
    assert.isFalse(found.targets.refusesAnswer?.("93.184.216.34", "shop.example"))
    assert.isFalse(found.targets.refusesAnswer?.("10 mail.shop.example", "shop.example"))
    assert.isUndefined(found.refused())
    assert.isTrue(found.targets.refusesAnswer?.("10.0.0.1", "shop.example"))
    assert.notInclude(found.refused() ?? "", "10.0.0.1")
  })

  it("show the addresses of a name that a pattern matches", () => {
    const found = resolvingBy(["*.shop.example"])
    assert.isFalse(found.targets.refusesAnswer?.("10.0.0.1", "db.shop.example"))
    assert.isUndefined(found.refused())
    assert.isTrue(found.targets.refusesAnswer?.("127.0.0.1", "db.shop.example"))
    assert.isTrue(found.targets.refusesAnswer?.("169.254.169.254", "db.shop.example"))
  })
})

const problemsOf = (value: unknown): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const place: Place = {
    path: ["place"],
    refuse: (message, path = []) => void problems.push(`${path.join(".")} ${message}`),
  }
  placeRules(value, place)
  return problems
}

describe("the key place", () => {
  it.each([
    true,
    false,
    {},
    { allow: ["public"] },
    {
      allow: ["public", "10.0.0.0/8", "192.168.1.1", "fd00:1::/32", "::1", "*.shop.example", "db"],
      writes: true,
    },
    { allow: ["a*b.shop.example", "shop.example", "*.*.shop.example"] },
    { allow: ["0.0.0.0/0"] },
  ])("takes %j", (value) => {
    assert.deepStrictEqual(problemsOf(value), [])
  })

  it.each<[value: unknown, problem: RegExp]>([
    ["yes", /^place must be true or false/],
    [{ allows: [] }, /^place\.allows is unknown/],
    [{ allow: [] }, /^place\.allow must have 1 to 100 entries/],
    [{ allow: "public" }, /^place\.allow must be a list/],
    [{ allow: ["*"] }, /^place\.allow\.0 .*last two labels/],
    [{ allow: ["*.example"] }, /^place\.allow\.0 .*last two labels/],
    [{ allow: ["*shop.example"] }, /^place\.allow\.0 .*last two labels/],
    [{ allow: ["shop.*"] }, /^place\.allow\.0 .*last two labels/],
    [{ allow: ["10.0.0.0/33"] }, /^place\.allow\.0 must be a network/],
    [{ allow: ["10.0.0/8"] }, /^place\.allow\.0 must be a network/],
    [{ allow: ["300.1.1.1"] }, /^place\.allow\.0 must be a network/],
    [{ allow: ["fd00::/129"] }, /^place\.allow\.0 must be a network/],
    [{ allow: ["https://shop.example"] }, /^place\.allow\.0 must be a network/],
    [{ allow: ["169.254.0.0/16"] }, /^place\.allow\.0 has link-local or metadata/],
    [{ allow: ["169.254.169.254"] }, /^place\.allow\.0 has link-local or metadata/],
    [{ allow: ["fe80::/10"] }, /^place\.allow\.0 has link-local or metadata/],
    [{ allow: ["fd00:ec2::254"] }, /^place\.allow\.0 has link-local or metadata/],
    [{ writes: "yes" }, /^place\.writes must be true or false/],
  ])("refuses %j", (value, problem) => {
    assert.match(problemsOf(value).join("; "), problem)
  })
})
