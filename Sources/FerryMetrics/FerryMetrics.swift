/// Metrics in the text format of Prometheus, for the long-running programs of Ferry: the daemon and the workers of a fleet.
///
/// ```
/// engine, manager ─► swift-metrics ─► MetricRegistry: counters, histograms ─┐
/// list, hosts, process: read on request ─► MetricFamily ────────────────────┴─► Exposition: text
/// ```
///
/// The name, help text and buckets of each metric are in a `Metric`, beside the code that measures or reads it. A family has a
/// bounded number of series: the values of labels are states, codes, classes, and the names of the busiest hosts.
///
/// The module uses only Ferry's public API.
public enum FerryMetrics {}
