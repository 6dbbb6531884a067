export { createClient } from "@tocsin/client"
