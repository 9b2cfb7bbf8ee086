import GatewayAPI

/// The names of the account's devices, for what tells ids alone.
struct DeviceNames: Sendable {
    private var names: [String: String] = [:]

    init(_ devices: [DeviceSummary] = []) {
        for device in devices { names[device.id] = device.name }
    }

    /// Empty where the devices may not be listed: an id is better than no answer.
    static func load(_ client: GatewayClient) async -> DeviceNames {
        DeviceNames((try? await client.get(DeviceList.self, APIPath("v1", "devices")))?.devices ?? [])
    }

    /// The name, or the id of a device without a known one.
    subscript(id: String) -> String {
        names[id].flatMap { $0.isEmpty ? nil : $0 } ?? id
    }
}
