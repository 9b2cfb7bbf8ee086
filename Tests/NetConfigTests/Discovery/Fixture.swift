import Foundation
import IoTCore

@testable import NetConfig

/// What cameras of makers send: see Fixtures/README.md.
enum Fixture: String, CaseIterable {
    case axis
    case hikvision = "hikvision-oem"
    case tpLink = "tp-link"
    case gsoap = "gsoap-oem"
    case predator
    case dahua = "dahua-hello"
    case madeUp = "made-up"

    var bytes: [UInt8] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/\(rawValue).xml")
        return (try? Data(contentsOf: file)).map { Array($0) } ?? []
    }

    /// The devices that it names.
    func devices(from source: String? = nil) throws -> [DiscoveredDevice] {
        let targets: [WSDTarget]
        switch try WSDMessage(bytes).body {
        case .probeMatches(let found): targets = found
        case .hello(let target): targets = [target]
        default: targets = []
        }
        return targets.map { DiscoveredDevice($0, from: source.flatMap { IPAddress($0) }) }
    }
}
