import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { Layer } from "effect"
import { httpSuite } from "./httpSuite.ts"

httpSuite({ name: "memory", place: Layer.empty, client: MemoryStorage.layer })
