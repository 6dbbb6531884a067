import { ServiceMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1"
import { Deployment, StatefulSet } from "kubernetes-models/apps/v1"
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1"
import { Namespace, Pod, Secret, Service, ServiceAccount } from "kubernetes-models/v1"

/** A kind of object that the manifests may have. */
export interface Model {
  /**
   * The module and the name of the type that an object of this kind must have, for the compiler.
   */
  readonly module: string
  readonly type: string
  /** Throws where the values of an object are not as the API's schema says. */
  readonly check: (object: never) => void
}

const core = "kubernetes-models/v1"
const apps = "kubernetes-models/apps/v1"

/** By the kind's own name. */
export const models: Readonly<Record<string, Model>> = {
  Namespace: { module: core, type: "INamespace", check: (object) => new Namespace(object).validate() },
  Secret: { module: core, type: "ISecret", check: (object) => new Secret(object).validate() },
  Pod: { module: core, type: "IPod", check: (object) => new Pod(object).validate() },
  Service: { module: core, type: "IService", check: (object) => new Service(object).validate() },
  ServiceAccount: {
    module: core,
    type: "IServiceAccount",
    check: (object) => new ServiceAccount(object).validate(),
  },
  Deployment: { module: apps, type: "IDeployment", check: (object) => new Deployment(object).validate() },
  StatefulSet: { module: apps, type: "IStatefulSet", check: (object) => new StatefulSet(object).validate() },
  NetworkPolicy: {
    module: "kubernetes-models/networking.k8s.io/v1",
    type: "INetworkPolicy",
    check: (object) => new NetworkPolicy(object).validate(),
  },
  PodDisruptionBudget: {
    module: "kubernetes-models/policy/v1",
    type: "IPodDisruptionBudget",
    check: (object) => new PodDisruptionBudget(object).validate(),
  },
  ServiceMonitor: {
    module: "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1",
    type: "IServiceMonitor",
    check: (object) => new ServiceMonitor(object).validate(),
  },
}
