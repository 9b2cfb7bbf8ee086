import IoTCore
import NetConfig

extension LANSearch {
    /// As long as most devices need to answer.
    private static let time = Duration.milliseconds(1_500)

    /// The addresses at which a device of ours is found now. Any machine on the network can answer: who connects compares
    /// the device's key.
    func addresses(of device: DeviceID) async -> [String] {
        let table = await run(for: Self.time)
        return table.devices.filter { $0.deviceID == device.rawValue }.flatMap(\.addresses).map(\.description)
    }
}
