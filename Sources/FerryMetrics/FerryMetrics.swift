/// Metrics in Prometheus' text format, for the programs of Ferry that run on: the daemon and the workers of a fleet.
///
/// ```
/// engine, manager ─► swift-metrics ─► MetricRegistry: counters, histograms ─┐
/// list, hosts, process: read when they are asked for ─► MetricFamily ───────┴─► Exposition: text
/// ```
///
/// Each name, help and bucket is in a `Metric`, beside what is measured or read. A family has a bounded number of series:
/// the values of labels are states, codes and classes, and those of the busiest hosts.
///
/// The module sees Ferry's public API alone.
public enum FerryMetrics {}
