/// Metrics in Prometheus' text format, for the programs of Ferry that run on: the daemon and the workers of a fleet.
///
/// ```
/// engine, manager ─► swift-metrics ─► MetricRegistry: counters, histograms ─┐
/// list, hosts, process: read when they are asked for ─► MetricFamily ───────┴─► Exposition: text
/// ```
///
/// Each name, help and bucket is in `Metric`. A family has a bounded number of series: the values of labels are states,
/// codes and classes, and those of the busiest hosts.
package enum FerryMetrics {}
