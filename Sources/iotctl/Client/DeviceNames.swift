import GatewayAPI

/// The names of the account's devices, for responses that contain only ids.
struct DeviceNames: Sendable {
    private var names: [String: String] = [:]

    init(_ devices: [DeviceSummary] = []) {
        for device in devices { names[device.id] = device.name }
    }

    /// Empty if the devices cannot be listed: the output then has ids instead of names.
    static func load(_ client: GatewayClient) async -> DeviceNames {
        DeviceNames((try? await client.get(DeviceList.self, APIPath("v1", "devices")))?.devices ?? [])
    }

    /// The name of a device, or its id if the name is unknown.
    subscript(id: String) -> String {
        names[id].flatMap { $0.isEmpty ? nil : $0 } ?? id
    }
}
