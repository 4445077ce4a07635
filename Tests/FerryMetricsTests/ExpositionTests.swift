import FerryCore
import FerryEngine
import Testing

@testable import Ferry
@testable import FerryMetrics

@Suite("Exposition", .timeLimit(.minutes(5))) struct ExpositionTests {
    @Test("Exposition: a family has its help, its type and one line for each series, counts without a point")
    func numbers() {
        let text = Exposition.text([
            MetricFamily(.receivedBytes, 4_611_686_018_427_387_904),
            MetricFamily(.requests, [("2xx", 3), ("failed", 0.5)]),
            MetricFamily(.hostSpeed, [(label: String, number: Double)]()),
        ])
        #expect(
            text == """
                # HELP ferry_received_bytes_total Bytes of files that were received, also those that are received again
                # TYPE ferry_received_bytes_total counter
                ferry_received_bytes_total 4611686018427387904
                # HELP ferry_requests_total Requests for files by the class of the response, or failed if there was none
                # TYPE ferry_requests_total counter
                ferry_requests_total{result="2xx"} 3
                ferry_requests_total{result="failed"} 0.5
                # HELP ferry_host_bytes_per_second Bytes per second from the busiest servers, by the first URL of each \
                download
                # TYPE ferry_host_bytes_per_second gauge

                """)
    }

    @Test("Exposition: the buckets of a histogram are cumulative and end with infinity, which is the count")
    func histogram() {
        var times = MetricHistogram(bounds: [0.5, 1])
        for time in [0.25, 0.5, 0.75, 2] { times.add(time) }
        let family = MetricFamily(.catalogue, [.init(["read"], .histogram(times))])
        let lines = Exposition.text([family]).split(separator: "\n").dropFirst(2)
        #expect(
            lines == [
                #"ferry_catalogue_seconds_bucket{operation="read",le="0.5"} 2"#,
                #"ferry_catalogue_seconds_bucket{operation="read",le="1"} 3"#,
                #"ferry_catalogue_seconds_bucket{operation="read",le="+Inf"} 4"#,
                #"ferry_catalogue_seconds_sum{operation="read"} 3.5"#,
                #"ferry_catalogue_seconds_count{operation="read"} 4"#,
            ])
    }

    @Test("Exposition: no value of a label ends its line or its quotes, and none is long")
    func hostile() {
        let values = ["a\"} 1\nferry_info 2", #"b\"#, "c\r\u{0}\u{7F}", "日本", String(repeating: "é", count: 1000)]
        let family = MetricFamily(.hostConnections, values.map { ($0, 1) })
        let text = Exposition.text([family])
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count == 2 + values.count + 1)
        #expect(text.contains(#"{host="a\"} 1\nferry_info 2"} 1"#))
        #expect(text.contains(#"{host="b\\"} 1"#))
        #expect(text.contains(#"{host="c???"} 1"#))
        #expect(text.contains(#"{host="日本"} 1"#))
        #expect(text.contains("{host=\"" + String(repeating: "é", count: Exposition.mostBytes / 2) + "\"} 1"))
    }

    @Test("Exposition: numbers that are none are written in Prometheus' way")
    func odd() {
        func value(_ number: Double) -> String {
            String(Exposition.text([MetricFamily(.slots, number)]).split(separator: " ").last ?? "")
        }
        #expect(value(.nan) == "NaN\n")
        #expect(value(.infinity) == "+Inf\n")
        #expect(value(-.infinity) == "-Inf\n")
        #expect(value(1e300) == "1e+300\n")
        #expect(value(-0.25) == "-0.25\n")
    }
}
