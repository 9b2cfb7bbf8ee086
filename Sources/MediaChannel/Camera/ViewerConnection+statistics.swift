import IoTCore
import NIOCore
import PeerTransport

extension ViewerConnection {
    /// What the caller cannot measure itself, with the names and units of W3C webrtc-stats where it has them. Members
    /// that are not known are absent.
    var statisticsReport: JSONValue {
        var report: [String: JSONValue] = [
            "viewers": .integer(Int64(stream.viewers.count)), "talkers": .integer(Int64(stream.talk.talkers)),
        ]
        if let statistics = peer?.statistics {
            report["packetsSent"] = .integer(Int64(clamping: statistics.packetsSent))
            report["bytesSent"] = .integer(Int64(clamping: statistics.bytesSent))
            report["packetsDiscardedOnSend"] = .integer(Int64(clamping: statistics.packetsDiscardedOnSend))
            report["availableOutgoingBitrate"] = statistics.availableOutgoingBitrate.map { .integer(Int64($0)) }
            report["currentRoundTripTime"] = statistics.currentRoundTripTime.map {
                .number(Double($0.nanoseconds) / 1e9)
            }
        }
        for (name, track) in [("video", isSoundOnly ? nil : run.rendition.video), ("audio", run.rendition.audio)] {
            guard let track else { continue }
            var source: [String: JSONValue] = [:]
            source["bitrate"] = track.meter.bitrate.map { .integer(Int64($0)) }
            if name == "video" { source["framesPerSecond"] = track.meter.frameRate.map { .number($0) } }
            report[name] = .object(source)
        }
        return .object(report)
    }
}
