# Runs truth.mjs as a test of a worker: MILLISECONDS=40 workerd test config.capnp
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  v8Flags = ["--perf-prof"],
  services = [(name = "truth", worker = (
    compatibilityDate = "2026-01-01",
    bindings = [(name = "MILLISECONDS", fromEnvironment = "MILLISECONDS")],
    modules = [
      (name = "worker.mjs", esModule = embed "worker.mjs"),
      (name = "truth.mjs", esModule = embed "truth.mjs"),
      (name = "other.mjs", esModule = embed "other.mjs"),
    ]))],
);
