// allowed
import { storageSuite } from "@tocsin/testing/storageSuite"

export const suite = storageSuite
