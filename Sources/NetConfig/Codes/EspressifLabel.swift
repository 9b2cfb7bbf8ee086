public import IoTCore

/// The label on a device that Espressif's phone apps scan: how to reach its provisioning service, and the proof of
/// possession. Form: https://github.com/espressif/esp-idf-provisioning-android, "QR code scan".
///
/// `{"ver":"v1","name":"PROV_CE03C0","pop":"abcd1234","transport":"softap","security":2}`
public struct EspressifLabel: Sendable, Hashable {
    public enum Transport: String, Sendable, CaseIterable {
        case softap, ble
    }

    /// The access point's or the device's name: `PROV_CE03C0`.
    public var name: String
    /// Only for security 2.
    public var username: String?
    /// The proof of possession; with security 2 the password. A secret.
    public var proof: String?
    public var transport: Transport
    /// 0, 1 or 2; `nil` if the label does not contain it.
    public var security: Int?
    /// The access point's own password. A secret.
    public var password: String?

    public init(
        name: String, username: String? = nil, proof: String? = nil, transport: Transport = .softap,
        security: Int? = nil, password: String? = nil
    ) {
        self.name = name
        self.username = username
        self.proof = proof
        self.transport = transport
        self.security = security
        self.password = password
    }

    /// The label's text, with the members in the order of Espressif's examples.
    public var text: String {
        var members: [(String, JSONValue)] = [("ver", "v1"), ("name", .string(name))]
        if let username { members.append(("username", .string(username))) }
        if let proof { members.append(("pop", .string(proof))) }
        members.append(("transport", .string(transport.rawValue)))
        if let security { members.append(("security", .integer(Int64(security)))) }
        if let password { members.append(("password", .string(password))) }
        return "{" + members.map { "\"\($0.0)\":\($0.1.jsonText)" }.joined(separator: ",") + "}"
    }

    /// Throws `invalidQRInput` for text that is not a label of version 1. Unknown members are ignored.
    public init(parsing text: String) throws(IoTError) {
        guard let value = try? JSONValue(parsing: text) else { throw Self.malformed("the text is not JSON") }
        guard value["ver"]?.stringValue == "v1" else { throw Self.malformed("\"ver\" must be \"v1\"") }
        guard let name = value["name"]?.stringValue, !name.isEmpty else {
            throw Self.malformed("there is no string \"name\"")
        }
        guard let transport = value["transport"]?.stringValue.flatMap(Transport.init(rawValue:)) else {
            throw Self.malformed("\"transport\" must be \"softap\" or \"ble\"")
        }
        let security = value["security"]
        guard security == nil || security?.integerValue.map({ (0...2).contains($0) }) == true else {
            throw Self.malformed("\"security\" must be 0, 1 or 2")
        }
        self.init(
            name: name, username: try Self.string(value, "username"), proof: try Self.string(value, "pop"),
            transport: transport, security: security?.integerValue.map { Int($0) },
            password: try Self.string(value, "password"))
    }

    private static func string(_ value: JSONValue, _ key: String) throws(IoTError) -> String? {
        guard let member = value[key] else { return nil }
        guard let text = member.stringValue else { throw malformed("\"\(key)\" must be a string") }
        return text
    }

    private static func malformed(_ reason: String) -> IoTError {
        IoTError(.invalidQRInput, "the label: \(reason)")
    }
}
