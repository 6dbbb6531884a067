import { assert, describe, it } from "@effect/vitest"
import { numberText } from "@tocsin/contract/formats/numberText"

describe("numbers for people", () => {
  it.each([
    [0, "B", "0 B"],
    [1_023, "B", "1,023 B"],
    [1_536, "B", "1.5 KiB"],
    [1_536, "B/s", "1.5 KiB/s"],
    [3 * 1_024 ** 2, "Bps", "3 MiB/s"],
    [12, "B/s", "12 B/s"],
    [300 * 1_048_576, "B", "300 MiB"],
    [5 * 1_073_741_824, "B", "5 GiB"],
    [-2_048, "B", "-2 KiB"],
    [0, "s", "0 s"],
    [0.000_041_34, "s", "41.34 µs"],
    [0.0413, "s", "41.3 ms"],
    [1.5, "s", "1.5 s"],
    [7_560, "s", "2.1 h"],
    [-7_560, "s", "-2.1 h"],
    [91.26, "%", "91.26 %"],
    [12_345.6, "", "12,346"],
    [0.000_123_4, "/s", "0.0001234 /s"],
    [2_668_996_718, "/s", "2.669G /s"],
    [-3, "dBm", "-3 dBm"],
  ])("%f %s is %s", (value, unit, text) => {
    assert.strictEqual(numberText(value, unit), text)
  })
})
