import GatewayAPI
import IoTCore
import Testing

@Suite struct DescriptionTests {
    private func json(_ value: some Encodable) throws -> JSONValue {
        try JSONValue(parsing: try APICoding.encode(value))
    }

    @Test("The status has the form that docs/openapi.yaml describes")
    func status() throws {
        let status = StatusResponse(
            version: "1.2.3", uptime: 7,
            link: LinkState(
                .tokenFailed, cause: "tokenRefused", reason: IoTError(.tokenRejected, "expired"), since: 1000,
                accessId: "owner"),
            hub: HubState(enabled: true, ready: true, endpoint: "/s", devices: 2, devicesOnline: 1),
            broker: BrokerState(state: .running, version: "mosquitto 2.0.11", process: 9), cameras: 1, channels: 0)
        let expected: JSONValue = [
            "version": "1.2.3", "uptime": 7, "cameras": 1, "channels": 0,
            "link": [
                "status": 3, "name": "tokenFailed", "cause": "tokenRefused", "since": 1000, "accessId": "owner",
                "reason": [
                    "code": 25026, "name": "tokenRejected", "message": "expired",
                    "remedy": .string(ErrorCode.tokenRejected.remedy),
                ],
            ],
            "hub": ["enabled": true, "ready": true, "endpoint": "/s", "devices": 2, "devicesOnline": 1],
            "broker": ["state": "running", "version": "mosquitto 2.0.11", "process": 9, "restarts": 0],
        ]
        #expect(try json(status) == expected)
        #expect(try APICoding.decode(StatusResponse.self, from: expected.jsonText.utf8) == status)
    }

    @Test("Unknown properties of a track are absent, not zero")
    func tracks() throws {
        let unknown = TrackDescription(.video(VideoParameters(codec: .h265)))
        #expect(try json(unknown) == ["kind": "video", "codec": "h265"])
        let audio = TrackDescription(.audio(AudioParameters(codec: .aac, sampleRate: 48000, channels: 6)), bitrate: 5)
        #expect(
            try json(audio) == ["kind": "audio", "codec": "aac", "sampleRate": 48000, "channels": 6, "bitrate": 5])
    }

    @Test("States are encoded as the numbers of the IoT video SDK and their names")
    func states() throws {
        let state = ChannelState(connection: .connecting, substate: .handshaking, player: .stopping)
        #expect(
            try json(state) == [
                "connection": ["value": 1, "name": "connecting"], "substate": ["value": 2, "name": "handshaking"],
                "player": ["value": -1, "name": "stopping"], "load": ["value": 0, "name": "unknown"],
            ])
    }

    @Test("A device's detail contains its summary")
    func device() throws {
        let summary = DeviceSummary(
            id: "a", name: "front", role: "owner", state: .failed, stateSince: 5, reason: IoTError(.sourceRefused),
            presenceSince: nil)
        let detail = DeviceDetail(summary: summary, model: ["ProUser": [:]], version: 3, pending: ["p"])
        #expect(detail.summary == summary)
        #expect(try APICoding.decode(DeviceDetail.self, from: try APICoding.encode(detail)) == detail)
    }

    @Test("A camera's description is decoded as it was encoded")
    func camera() throws {
        let camera = CameraDescription(
            name: "front", device: nil, url: "rtsp://u:***@h/", state: .failed, since: 7,
            reason: IoTError(.sourceUnreachable),
            tracks: [TrackDescription(kind: .video, codec: "h264", width: 768, height: 576, frameRate: 10)],
            viewers: 1, viewerLimit: 8)
        #expect(try APICoding.decode(CameraDescription.self, from: try APICoding.encode(camera)) == camera)
    }
}
