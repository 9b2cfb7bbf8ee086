import CoreMetrics
import GatewayAPI
import IoTCore
import Testing

@testable import Gateway
@testable import iotvideod

@Suite struct MetricsRegistryTests {
    @Test("The text has Prometheus' format 0.0.4")
    func text() {
        let registry = MetricsRegistry()
        registry.series("a.requests", [("route", "/v1/x\"\\\n"), ("method", "GET")], .counter).increment(by: Int64(3))
        registry.series("a.requests", [("method", "GET"), ("route", "/v1/x\"\\\n")], .counter).increment(by: Int64(1))
        registry.series("9depth", [], .gauge).record(2.5)
        let timer = registry.makeTimer(label: "t", dimensions: [])
        timer.recordNanoseconds(1_500_000_000)
        timer.recordNanoseconds(500_000_000)
        let text = PrometheusText.write(registry.samples())
        #expect(
            text == """
                # TYPE _9depth gauge
                _9depth 2.5
                # TYPE a_requests_total counter
                a_requests_total{method="GET",route="/v1/x\\"\\\\\\n"} 4
                # HELP iotvideod_metrics_dropped_series_total Requests for a series above the maximum number
                # TYPE iotvideod_metrics_dropped_series_total counter
                iotvideod_metrics_dropped_series_total 0
                # TYPE t_seconds summary
                t_seconds_count 2
                t_seconds_sum 2

                """)
    }

    @Test("Series above the capacity are dropped and counted")
    func bound() {
        let registry = MetricsRegistry(capacity: 10)
        for number in 0..<100 {
            registry.series("c", [("n", "\(number)")], .counter).increment(by: Int64(1))
        }
        let samples = registry.samples()
        #expect(samples.count == 11)
        #expect(samples.last?.value == 90)
    }

    @Test("The counters of channels are in the daemon's metrics and never decrease")
    func channels() {
        // swift-metrics has one backend per process.
        let registry = MetricsRegistry.shared
        func counted(_ name: String) -> Double {
            let kind = MetricLabel(name: "kind", value: "video")
            return registry.samples().first { $0.name == name && $0.labels == [kind] }?.value ?? 0
        }
        let names = ["iotvideod_received_packets_total", "iotvideod_lost_packets_total"]
        let before = names.map(counted)
        var watch = ChannelWatch()
        for (received, lost) in [(10, 3), (25, 2)] {
            var video = TrackStatistics()
            video.packetsReceived = received
            video.packetsLost = lost
            var report = StatisticsReport(timestamp: 0)
            report.video = video
            let description = ChannelDescription(
                id: "1", device: "d", deviceName: "front", source: .main, kind: .monitor,
                state: ChannelState(connection: .connected, player: .playing), tracks: [])
            _ = watch.observe([
                ChannelWatch.Observation(
                    owner: AccessID(rawValue: "owner")!, channel: ObjectIdentifier(registry), description: description,
                    statistics: report)
            ])
        }
        #expect(zip(names.map(counted), before).map { $0 - $1 } == [25, 3])
    }

    @Test("Text that a client sends is never a label")
    func labels() async throws {
        let registry = MetricsRegistry()
        let fixture = RouterFixture(metrics: registry)
        for number in 0..<50 {
            _ = try await fixture.ask("GET", "/stranger-\(number)")
            _ = try await fixture.ask("GET", "/v1/devices/stranger-\(number)")
            _ = try await fixture.ask("XY\(number)", "/v1/status")
        }
        let text = PrometheusText.write(registry.samples())
        #expect(!text.contains("stranger") && !text.contains("XY"))
        #expect(registry.samples().count < 20)
        #expect(
            text.contains(#"iotvideod_http_requests_total{method="GET",route="/v1/devices/{device}",status="401"} 50"#))
    }

    @Test("The metrics include those of the process")
    func process() {
        let names = Set(ProcessMetrics.samples().filter { $0.value > 0 }.map(\.name))
        #expect(
            names == [
                "process_resident_memory_bytes", "process_virtual_memory_bytes", "process_open_fds",
                "process_cpu_seconds_total",
            ])
    }
}
