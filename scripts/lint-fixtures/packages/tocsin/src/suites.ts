// refused: eslint(no-restricted-imports) Tools of the tests stay in test/
import { storageSuite } from "@tocsin/testing/storageSuite"

export const refused = storageSuite
