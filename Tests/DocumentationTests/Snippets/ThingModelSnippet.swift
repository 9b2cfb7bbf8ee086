import IoTCore
import IoTLink
import ThingModel

enum ThingModelSnippet {
    // snippet
    /// Switches a camera on, and returns the names of what can be set.
    static func switchOn(_ device: DeviceID, over link: LinkSession) async throws -> [String] {
        let client = ThingModelClient(link: link)
        _ = try await client.takeAction(device.rawValue, "Action.cameraOn", 1)
        let model = try await client.read(device.rawValue, "ProWritable")
        return model.value.objectValue?.keys.sorted() ?? []
    }
    // end
}
