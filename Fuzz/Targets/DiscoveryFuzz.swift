import IoTCore
import NIOCore

@testable import NetConfig

extension FuzzTarget {
    /// A parsed datagram, written and parsed again, is the same; it gets few answers, and its texts are safe to show.
    static let discovery = FuzzTarget(
        "discovery",
        cost: ReadingCost { input in
            for target in targets(try? WSDMessage(input)) { _ = DiscoveredDevice(target, from: nil) }
            if let answer = try? XMLReader.read(input, .answer) {
                _ = ONVIFProfile.read(answer)
                _ = ONVIFNotification.read(answer)
            }
        }
    ) { input in
        if let message = try? WSDMessage(input) {
            for target in targets(message) {
                let again = try WSDMessage(WSDMessage(id: "urn:uuid:1", body: .hello(target)).bytes)
                try require(targets(again).map(\.endpoint) == [target.endpoint], "\(target.endpoint) changed")
                try require(targets(again).map(\.scopes) == [target.scopes], "\(target.scopes) changed")
                let device = DiscoveredDevice(target, from: IPAddress("192.0.2.1"))
                for text in [device.name, device.model, device.serialNumber].compactMap({ $0 }) {
                    try require(text.utf8.count <= DeviceText.maximumSize && text.isStreamSafe, "'\(text)' was kept")
                }
                for url in device.serviceURLs { try require(ServiceURL(url)?.text == url, "\(url) changed") }
            }
        }
        try checkResponder(input)
        if let answer = try? XMLReader.read(input, .answer) {
            for notification in ONVIFNotification.read(answer) {
                try require(notification.detector.count <= 256, "a detector's name is too long")
            }
            guard let (main, sub) = ONVIFProfile.choose(ONVIFProfile.read(answer)) else { return }
            try require(sub != main, "the same profile twice")
        }
    }

    private static func targets(_ message: WSDMessage?) -> [WSDTarget] {
        switch message?.body {
        case .hello(let target), .bye(let target): [target]
        case .probeMatches(let targets): targets
        case .resolveMatches(let target): target.map { [$0] } ?? []
        case .probe, .resolve, nil: []
        }
    }

    private static func checkResponder(_ input: [UInt8]) throws {
        guard let peer = IPAddress("192.0.2.9") else { return }
        let camera = AnnouncedCamera(
            name: "front", deviceID: String(repeating: "a", count: 32), productID: "p", version: "1", hasOwner: true,
            port: 5000)
        var responder = WSDResponder([WSDTarget(camera)], instance: 1, random: SystemRandomNumberGenerator())
        let from = WSDResponder.Peer(address: peer, port: 3702, interface: 1)
        for _ in 0..<3 { responder.receive(input, from: from, isOnLink: true, at: .uptimeNanoseconds(0)) }
        var answers: [WSDResponder.Output] = []
        while let next = responder.nextDeadline, answers.count < 10 { answers += responder.due(at: next) }
        try require(answers.count <= WSDRepetition.unicast, "\(answers.count) answers to one message")
        try require(answers.allSatisfy { $0.datagram.count <= WSDResponder.maximumSize }, "a large answer")
    }
}
