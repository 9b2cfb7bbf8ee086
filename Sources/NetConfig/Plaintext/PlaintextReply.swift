import IoTCore

/// A message of the plaintext scheme from the device.
enum PlaintextReply: Sendable, Hashable {
    /// The device has accepted the request, and joins the network.
    case accepted(productID: String, deviceName: String)
    /// This request is refused, or its attempt failed.
    case currentError(String)
    /// The attempt of the previous request failed. This request is accepted.
    case previousError(String)

    private static let version = "2.0"
    private static let largestLog = 160

    /// - Returns: `nil` if it is not a reply.
    init?(parsing datagram: [UInt8]) {
        guard datagram.count <= PlaintextRequest.largest, let value = try? JSONValue(parsing: datagram),
            value["cmdType"] == 2
        else { return nil }
        let log = value["log"]?.stringValue?.shown(Self.largestLog) ?? ""
        switch value["deviceReply"]?.stringValue {
        case nil:
            self = .accepted(
                productID: value["productId"]?.stringValue?.shown(64) ?? "",
                deviceName: value["deviceName"]?.stringValue?.shown(64) ?? "")
        case "Current_Error"?: self = .currentError(log)
        case "Previous_Error"?: self = .previousError(log)
        case .some: return nil
        }
    }

    /// The longest form of the message that fits into `limit` bytes.
    ///
    /// The sender's address can be forged: an answer that is longer than its request could amplify an attack on somebody
    /// else.
    ///
    /// - Returns: `nil` if no form fits.
    func bytes(fitting limit: Int) -> [UInt8]? {
        forms.lazy.map { $0.jsonBytes }.first { $0.count <= limit }
    }

    /// The forms of the message, the longest first.
    private var forms: [JSONValue] {
        switch self {
        case .accepted(let productID, let deviceName):
            let least: JSONValue = ["cmdType": 2, "protoVersion": .string(Self.version)]
            var named = least
            named["deviceName"] = .string(deviceName)
            var whole = named
            whole["productId"] = .string(productID)
            return [whole, named, least]
        case .currentError(let log): return Self.forms("Current_Error", log)
        case .previousError(let log): return Self.forms("Previous_Error", log)
        }
    }

    private static func forms(_ kind: String, _ log: String) -> [JSONValue] {
        let least: JSONValue = ["cmdType": 2, "deviceReply": .string(kind)]
        // The error number is first, so that a short log still contains it.
        let logs = [log.shown(largestLog), String(log.prefix { $0 != ":" }).shown(64), log.shown(5)]
        return logs.map { log in
            var form = least
            form["log"] = .string(log)
            return form
        } + [least]
    }
}
