import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { Layer } from "effect"
import { storageSuite } from "@tocsin/testing/storageSuite"

storageSuite({
  name: "memory",
  place: Layer.empty,
  client: MemoryStorage.layer,
  onlyOneClient: "its rows are in the memory of one client",
  keepsNothing: "its rows are in the memory of one client",
})
