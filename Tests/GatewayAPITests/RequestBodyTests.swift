import GatewayAPI
import IoTCore
import Testing

@Suite struct RequestBodyTests {
    private func check<Body: APIRequestBody & Equatable>(_ body: Body) throws {
        let bytes = try APICoding.encode(body)
        #expect(try APICoding.decode(Body.self, from: bytes) == body)
        // The daemon must know every member that the client writes.
        let members = try JSONValue(parsing: bytes).objectValue ?? [:]
        #expect(Set(members.keys) == Set(Body.members), "\(Body.self)")
    }

    /// A camera with each key of the API that `isIncluded` accepts.
    private static func camera(_ isIncluded: (CameraKey) -> Bool) -> CameraSettings {
        var camera = CameraSettings()
        for key in CameraKey.all where key.isInAPI && isIncluded(key) {
            let value: JSONValue =
                switch key.form {
                case .text, .path, .source, .sources: "a"
                case .wholeNumber(let range): .integer(Int64(range.lowerBound))
                case .choice(let names): .string(names.last ?? "")
                }
            _ = key.set(value, &camera)
        }
        return camera
    }

    @Test("Each request has exactly the members that the daemon knows")
    func members() throws {
        try check(UserRequest(accessId: "a", kind: .member))
        try check(TemporaryUserRequest(device: "d", actions: [.view], ttlSeconds: 60, oneCall: true))
        try check(BindingRequest(role: .guest, actions: [.view, .talk], force: true))
        try check(DeviceRequest(name: "d", owner: "a"))
        try check(RecordingRemoval(from: 1, to: 2))
        try check(KeptTimeRequest(from: 1, to: 2, note: "n"))
        try check(DeviceRename(name: "d"))
        try check(TokenRequest(kind: .api, name: "n", user: "a", devices: ["d"], actions: [.view], ttlSeconds: 1))
        try check(
            MessageRequest(data: "AA==", text: "a", responses: .many, timeoutMilliseconds: 1, wake: true))
        try check(ServerMessageRequest(path: "GET/time", data: "", timeoutMilliseconds: 1))
        try check(StoredEventDeletion(ids: ["1"], device: "d", topic: "t", before: 1))
        try check(CameraRequest(Self.camera { _ in true }, check: true))
        try check(CameraChange(Self.camera { $0.part != .device }, check: true))
        try check(CameraTestRequest(Self.camera { $0.part == .source }, picture: true))
        try check(CallAnswer(.accept, call: "4f"))
        try check(ActionRequest(path: "Action.a", value: 1, timeoutMilliseconds: 1))
        try check(ChannelRequest(device: "d", kind: .live, definition: "low", camera: "desk"))
        try check(
            ChannelSettings(
                definition: "low", camera: .camera("desk"), muted: true, volume: SoundVolume(left: 1, right: 0.5),
                rotation: 90, echo: .keep))
    }

    @Test("The camera of a live channel is changed, ended by null, or left as it is")
    func shownCamera() throws {
        let changes: [(String, ChannelSettings)] = [
            (#"{"camera":"desk"}"#, ChannelSettings(camera: .camera("desk"))),
            (#"{"camera":null}"#, ChannelSettings(camera: ChannelSettings.ShownCamera.none)),
            (#"{"definition":"low"}"#, ChannelSettings(definition: "low")),
        ]
        for (text, change) in changes {
            let encoded = try APICoding.encode(change)
            #expect(String(decoding: encoded, as: UTF8.self) == text)
            #expect(try APICoding.decode(ChannelSettings.self, from: encoded) == change)
        }
    }

    @Test("A reading without a value contains the reason")
    func readings() throws {
        let readings = PropertyReadings(readings: [
            DeviceReading(device: "d", name: "front", value: 1, version: 2),
            DeviceReading(device: "x", error: IoTError(.targetNotFound)),
        ])
        #expect(try APICoding.decode(PropertyReadings.self, from: try APICoding.encode(readings)) == readings)
    }
}
