import Foundation
import IoTCore
import PeerTransport

/// `offer|answer [--bind ADDRESS] [--server URL]... [--user NAME] [--credential TEXT] [--relay] [--lite] [--ca FILE]
/// [--secret TEXT]`
struct ProbeOptions: Sendable {
    var offers = false
    var bind = "0.0.0.0"
    var ice = ICEConfiguration()

    init(_ arguments: ArraySlice<String>) throws {
        var arguments = arguments
        var urls: [String] = []
        var user = ""
        var credential = ""
        switch arguments.popFirst() {
        case "offer": offers = true
        case "answer": break
        default: throw IoTError(.invalidParameter, "the first argument must be offer or answer")
        }
        while let option = arguments.popFirst() {
            func value() throws -> String {
                guard let value = arguments.popFirst() else {
                    throw IoTError(.invalidParameter, "\(option) needs a value")
                }
                return value
            }
            switch option {
            case "--bind": bind = try value()
            case "--server": urls.append(try value())
            case "--user": user = try value()
            case "--credential": credential = try value()
            case "--secret":
                // A time-limited credential from the shared secret.
                let made = TimeLimitedCredential(
                    secret: try value(), user: "probe", expiry: Int64(Date().timeIntervalSince1970) + 600)
                user = made.username
                credential = made.credential
            case "--relay": ice.transportPolicy = .relay
            case "--lite": ice.isLite = true
            case "--ca": ice.certificateAuthorities = try String(contentsOfFile: value(), encoding: .utf8)
            default: throw IoTError(.invalidParameter, "unknown option \(option)")
            }
        }
        if !urls.isEmpty { ice.servers = [try ICEServer(urls: urls, username: user, credential: credential)] }
    }
}
