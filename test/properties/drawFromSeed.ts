/**
 * Before each test file: properties draw from the seed of this run, and run as often as it says.
 */
import { Arbitrary } from "effect"
import * as fc from "fast-check"
import { propertyRuns, propertySeed } from "@tocsin/testing/propertyRuns"

const seed = propertySeed === undefined ? {} : { seed: propertySeed }
const usually = propertyRuns(100)

Arbitrary.configureGlobal({ check: { runs: usually, ...seed } })
fc.configureGlobal({ numRuns: usually, ...seed })
