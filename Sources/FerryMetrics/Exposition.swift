import FerryCore

/// The text format of Prometheus, version 0.0.4. Pure.
public enum Exposition {
    /// The value of `Content-Type`.
    public static let mediaType = "text/plain; version=0.0.4; charset=utf-8"
    /// The maximum length of a label value in bytes; the rest is cut off.
    public static let mostBytes = 256

    /// Returns the text of these families: for each, a HELP and a TYPE line, then one line for each series.
    public static func text(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families {
            let (metric, name) = (family.metric, family.metric.name)
            text += "# HELP \(name) \(metric.help)\n# TYPE \(name) \(metric.kind.rawValue)\n"
            for series in family.series {
                let labels = Array(zip(metric.labels, series.labels))
                switch series.value {
                case .number(let number): text += name + shown(labels) + " " + shown(number) + "\n"
                case .histogram(let histogram): text += lines(histogram, name, labels)
                }
            }
        }
        return text
    }

    private static func lines(
        _ histogram: MetricHistogram, _ name: String, _ labels: [(String, String)]
    ) -> String {
        var text = ""
        var count: UInt64 = 0
        // Buckets are cumulative here.
        for (bound, own) in zip(histogram.bounds + [.infinity], histogram.counts) {
            count += own
            text += "\(name)_bucket\(shown(labels + [("le", shown(bound))])) \(count)\n"
        }
        return text + "\(name)_sum\(shown(labels)) \(shown(histogram.sum))\n\(name)_count\(shown(labels)) \(count)\n"
    }

    private static func shown(_ labels: [(String, String)]) -> String {
        labels.isEmpty ? "" : "{" + labels.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",") + "}"
    }

    /// Escapes the value of a label, because host names are untrusted.
    private static func escaped(_ value: String) -> String {
        var text = ""
        var bytes = 0
        for scalar in value.unicodeScalars {
            bytes += scalar.utf8.count
            if bytes > mostBytes { break }
            switch scalar {
            case "\\": text += #"\\"#
            case "\"": text += #"\""#
            case "\n": text += #"\n"#
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: text += "?"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func shown(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: number).map(String.init) ?? "\(number)"
    }
}
