import GatewayAPI
import IoTCore
import IoTLink
import LinkHub
import MediaChannel

extension LocalGateway {
    func metrics() async -> [MetricSample] {
        var samples = [MetricSample("iotvideod_up", .gauge, 1, help: "1 while the daemon runs")]
        let status = link.current.status
        samples.append(
            MetricSample(
                "iotvideod_link_status", .gauge, Double(status.rawValue),
                help: "-1 unregistering, 0 registering, 1 online, 2 offline, 3 tokenFailed, 6 kickOff"))
        samples += quotaMetrics()
        samples += linkCounters()
        samples += hubMetrics()
        samples += await cameraMetrics()
        samples.append(
            MetricSample(
                "iotvideod_channels", .gauge, Double(await registry.all.count),
                help: "Uses of channels by callers of this gateway"))
        samples.append(
            MetricSample(
                "iotvideod_channel_connections", .gauge, Double(await registry.count), help: "Connections to devices"))
        samples.append(
            MetricSample(
                "iotvideod_events_total", .counter, Double(feed.newest), help: "Events for /v1/events since the start"))
        return samples
    }

    /// Accounts are not labels, because there can be thousands.
    private func quotaMetrics() -> [MetricSample] {
        quotas.table.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { resource, quota in
            let labels = [MetricLabel(name: "resource", value: resource.rawValue)]
            return [
                MetricSample(
                    "iotvideod_quota_used", .gauge, Double(quota.used), labels: labels,
                    help: "Units of the shared resource in use by all accounts"),
                MetricSample(
                    "iotvideod_quota_bound", .gauge, Double(quota.bound.total), labels: labels,
                    help: "Total units of the shared resource"),
                MetricSample(
                    "iotvideod_quota_refused_total", .counter, Double(quota.refusals), labels: labels,
                    help: "Requests refused because the account's limit or the total was reached"),
            ]
        }
    }

    private func linkCounters() -> [MetricSample] {
        guard let counters = (link as? LinkSession)?.counters else { return [] }
        return [
            MetricSample(
                "iotvideod_link_online_total", .counter, Double(counters.onlineCount),
                help: "How often the link became online"),
            MetricSample(
                "iotvideod_link_resent_requests_total", .counter, Double(counters.resentRequests),
                help: "Requests sent again after a lost connection"),
            MetricSample(
                "iotvideod_link_repeated_requests_total", .counter, Double(counters.repeatedOwnRequests),
                help: "Requests sent again because no answer came"),
            MetricSample(
                "iotvideod_link_dropped_pushes_total", .counter, Double(counters.droppedPushes),
                help: "Pushes dropped because a reader was slow"),
            MetricSample(
                "iotvideod_link_malformed_envelopes_total", .counter, Double(counters.malformedEnvelopes),
                help: "Malformed messages"),
        ]
    }

    private func hubMetrics() -> [MetricSample] {
        guard let hub else { return [] }
        let statistics = hub.statistics
        return [
            MetricSample(
                "iotvideod_hub_requests_total", .counter, Double(statistics.requests), help: "Requests of principals"),
            MetricSample(
                "iotvideod_hub_repeated_requests_total", .counter, Double(statistics.repeatedRequests),
                help: "Repeated requests that got the earlier answer"),
            MetricSample(
                "iotvideod_hub_refused_requests_total", .counter, Double(statistics.refusedRequests),
                help: "Requests refused because of overload or a failed store"),
            MetricSample(
                "iotvideod_hub_ignored_messages_total", .counter, Double(statistics.ignoredMessages),
                help: "Malformed messages, and messages of ended sessions"),
            MetricSample(
                "iotvideod_hub_transactions_total", .counter, Double(statistics.transactions),
                help: "Transactions of the store"),
            MetricSample(
                "iotvideod_hub_store_failures_total", .counter, Double(statistics.storeFailures),
                help: "Transactions that failed"),
            MetricSample(
                "iotvideod_broker_restarts_total", .counter, Double(max(0, hub.brokerStarts - 1)),
                help: "How often the broker was started again"),
            MetricSample(
                "iotvideod_broker_up", .gauge, hub.brokerProcessIdentifier == nil ? 0 : 1,
                help: "1 while the broker runs"),
        ]
    }

    /// Sums over all cameras. Camera names are not labels, so that the number of series is limited.
    private func cameraMetrics() async -> [MetricSample] {
        var up = 0
        var viewers = 0
        let cameras = await fleet.cameras()
        for camera in cameras {
            let snapshot = await camera.snapshot()
            if case .ready = snapshot.source { up += 1 }
            viewers += snapshot.viewers
        }
        return [
            MetricSample("iotvideod_cameras", .gauge, Double(cameras.count), help: "Cameras of this daemon"),
            MetricSample("iotvideod_cameras_up", .gauge, Double(up), help: "Cameras whose source sends frames"),
            MetricSample("iotvideod_viewers", .gauge, Double(viewers), help: "Viewers of this daemon's cameras"),
        ]
    }
}
