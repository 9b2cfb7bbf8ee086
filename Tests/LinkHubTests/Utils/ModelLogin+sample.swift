import IoTCore
import ThingModel

extension ThingSchema {
    /// A small camera.
    static func sample() throws -> ThingSchema {
        try ThingSchema([
            .readonly("viewers", .uint32, "how many watch now"),
            .readonly("cameraOn", .int32(0...1, default: 1), "whether it streams"),
            .action("cameraOn", .int32(0...1, default: 1), "1 streams, 0 does not"),
            .writable("quality", .int32(0...1_000_000), "how good the picture is"),
            .writable("volume", .int32(0...1_000_000), "how loud the speaker is"),
        ])
    }
}

extension ModelLogin {
    /// The login of a new device, or of one that has these versions.
    static func sample(holding versions: [String: Int64] = [:]) throws -> ModelLogin {
        ModelLogin(
            schema: try .sample(), constants: [:], readonly: ["viewers": ["stVal": 0, "t": 1]],
            writableVersions: versions)
    }
}

extension JSONValue {
    static func sampleLogin() throws -> JSONValue { try ModelLogin.sample().json }
}
