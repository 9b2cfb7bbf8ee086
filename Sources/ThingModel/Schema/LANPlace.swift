public import IoTCore

/// Where a device is reached on its own network: a TCP port, and the addresses of its box, the best first.
public struct LANPlace: Sendable, Hashable {
    /// More are left out.
    private static let mostAddresses = 8

    public var port: Int
    public var addresses: [String]

    public init(port: Int, addresses: [String]) {
        self.port = port
        self.addresses = Array(addresses.prefix(Self.mostAddresses))
    }

    /// Reads `value`; `nil` for anything else, and for a device that is not reached in this way.
    public init?(_ value: JSONValue) {
        guard let port = value["port"]?.integerValue, (1...65_535).contains(port),
            let text = value["addresses"]?.stringValue
        else { return nil }
        let addresses = text.split(separator: " ").prefix(Self.mostAddresses).map(String.init)
        guard !addresses.isEmpty, addresses.allSatisfy({ IPAddress($0) != nil }) else { return nil }
        self.init(port: Int(port), addresses: addresses)
    }

    /// The value of `ProReadonly.lan`.
    public var value: JSONValue {
        ["port": .integer(Int64(port)), "addresses": .string(addresses.joined(separator: " "))]
    }
}
