import Foundation
import IoTCore
import IoTLink
import NIOCore
import TestSupport
import ThingModel

/// Sends one request after another about one property that has no other writer: writes, reads, actions and messages.
/// Each answer fits only its own request.
struct VirtualWriter {
    enum Operation {
        case write(Int64)
        case read
        case action(Int64)
        case message(Int64)
    }

    struct Request {
        let id: String
        let method: String
        let params: JSONValue
    }

    let number: Int
    let device: String
    let path: String
    private let isUserProperty: Bool
    private var next: Int64
    private(set) var shadow = ShadowProperty<Int64>()
    private(set) var current: (operation: Operation, request: Request)?
    private(set) var problems: [String] = []
    private(set) var acknowledged = 0
    private(set) var answered = 0
    private(set) var retried = 0
    /// Actions that were answered.
    private(set) var actions: Set<Int64> = []

    init(number: Int, device: String, path: String) {
        self.number = number
        self.device = device
        self.path = path
        isUserProperty = path.hasPrefix("ProUser.")
        next = Int64(number) * 1_000_000
    }

    /// The next request. A request without an answer is sent again with the same id.
    mutating func request(_ generator: inout SeededGenerator) -> Request {
        if let current {
            retried += 1
            return current.request
        }
        next += 1
        let id = "w\(next)"
        var params: JSONValue = ["device": .string(device)]
        let operation: Operation
        let method: String
        switch Int.random(in: 0..<8, using: &generator) {
        case 0..<4:
            operation = .write(next)
            params["value"] = .integer(next)
            if isUserProperty, shadow.acknowledged == nil {
                method = ModelMethod.addUserProperty.name
                params["name"] = .string(path.split(separator: ".").dropFirst().first.map(String.init) ?? "")
            } else {
                method = ModelMethod.write.name
                params["path"] = .string(path)
            }
        case 4, 5:
            operation = .read
            method = ModelMethod.read.name
            params["path"] = .string(path)
        case 6:
            operation = .action(next)
            method = ModelMethod.takeAction.name
            params["path"] = "Action.ring"
            params["value"] = .integer(next)
        default:
            operation = .message(next)
            method = MessageMethod.send.name
            params["data"] = .string(Self.data(next))
            params["responses"] = "one"
        }
        let request = Request(id: id, method: method, params: params)
        current = (operation, request)
        return request
    }

    private static func data(_ number: Int64) -> String {
        Data("\(number)".utf8).base64EncodedString()
    }

    /// - Parameter isImpatient: Whether to give up a write that failed.
    mutating func complete(_ id: String, _ outcome: Result<JSONValue, IoTError>, isImpatient: Bool) {
        guard let (operation, request) = current, request.id == id else { return }
        switch outcome {
        case .success(let result):
            current = nil
            answered += 1
            if let wrong = judge(operation, request, result) { problems.append("\(device) \(path): \(wrong)") }
        case .failure(let error):
            switch error.code {
            // No answer in time, or the target is offline: these errors may be temporary.
            case .pathInvalid where shadow.acknowledged == nil: break
            case .messageTimeout, .linkUnavailable, .deviceOffline, .peerTimeout, .tooManyRequests, .stopping: break
            default: problems.append("\(device) \(path), \(request.method): \(error)")
            }
            switch operation {
            case .write(let number):
                // The hub has answered, and nothing was done: a device that was never online has no model.
                if error.code == .deviceOffline { return current = nil }
                guard isImpatient else { return }
                shadow.gaveUp(number)
                current = nil
            // The first answer to an id is its answer for ten minutes, even if it says that the device is offline.
            case .read, .action, .message: current = nil
            }
        }
    }

    private mutating func judge(_ operation: Operation, _ request: Request, _ result: JSONValue) -> String? {
        switch operation {
        case .write(let number):
            acknowledged += 1
            let member = isUserProperty ? "val" : "setVal"
            let isFitting =
                request.method == ModelMethod.addUserProperty.name || result["value"]?[member] == .integer(number)
            guard isFitting, let version = result["version"]?.integerValue else {
                return "the answer to write \(number) is another's: \(result.jsonText)"
            }
            return shadow.acknowledge(number, version: version)
        case .read: return judge(read: result)
        case .action(let number):
            actions.insert(number)
            return result["value"] == .integer(number)
                ? nil : "the answer to action \(number) is another's: \(result.jsonText)"
        case .message(let number):
            return result["data"]?.stringValue == Self.data(number)
                ? nil : "the answer to message \(number) is another's: \(result.jsonText)"
        }
    }

    func judge(read result: JSONValue) -> String? {
        shadow.judge(result["value"]?.integerValue, version: result["version"]?.integerValue)
    }
}
