import GatewayAPI
import IoTCore
import MediaChannel
import NIOCore
import PeerTransport
import Synchronization

@testable import iotvideod

/// A gateway that notes which calls reach it, and answers each with something of the right type.
final class ScriptedGateway: GatewayService {
    struct Call: Sendable, Equatable {
        var caller: Caller
        var name: String
    }

    let account = AccessID(rawValue: "owner")!
    /// What `check` says of tokens.
    let grants: [String: TokenGrant]
    let tokens: BearerTokens
    let leases: Leases
    let quotas = Quotas()
    private let state: State

    private final class State: Sendable {
        let values = Mutex<(calls: [Call], obstacles: [IoTError], revoked: Set<String>, lost: Set<String>)>(
            ([], [], [], []))
    }

    /// Asked before each call.
    let refuse: @Sendable (String) -> IoTError?

    init(grants: [String: TokenGrant] = [:], refuse: @escaping @Sendable (String) -> IoTError? = { _ in nil }) {
        self.grants = grants
        self.refuse = refuse
        let state = State()
        self.state = state
        let tokens = BearerTokens { token in
            let isRevoked = state.values.withLock { $0.revoked.contains(token.text) }
            guard let grant = grants[token.text], !isRevoked else { throw IoTError(.unauthenticated) }
            return grant
        }
        self.tokens = tokens
        leases = Leases(
            checkToken: { _ = try await tokens.caller(of: $0, from: .local) },
            mayView: { device, _ in !state.values.withLock { $0.lost.contains(device) } })
    }

    var calls: [Call] { state.values.withLock { $0.calls } }
    func set(obstacles: [IoTError]) { state.values.withLock { $0.obstacles = obstacles } }
    func revoke(_ token: String) { state.values.withLock { _ = $0.revoked.insert(token) } }
    /// No account may view the device any more.
    func lose(_ device: String) { state.values.withLock { _ = $0.lost.insert(device) } }

    fileprivate func note(_ caller: Caller, _ name: String) throws(IoTError) {
        state.values.withLock { $0.calls.append(Call(caller: caller, name: name)) }
        if let error = refuse(name) { throw error }
    }

    func gateway(for lease: Lease) -> any Gateway { ScriptedView(script: self, lease: lease) }

    func obstacles() async -> [IoTError] { state.values.withLock { $0.obstacles } }
    func metrics() async -> [MetricSample] { [] }
    func run() async { await leases.run() }
    func prepareToStop() async {}
}

private struct ScriptedView: Gateway {
    let script: ScriptedGateway
    let lease: Lease
    var caller: Caller { lease.caller }

    private func note(_ name: String = #function) throws(IoTError) {
        try script.note(caller, String(name.prefix { $0 != "(" }))
    }

    private let error = IoTError(.notFound)

    init(script: ScriptedGateway, lease: Lease) {
        self.script = script
        self.lease = lease
    }

    /// Goes on for ever.
    private func media(_ type: String) -> MediaBody {
        lease.needs(device: RouterFixture.device)
        return MediaBody(
            contentType: type,
            chunks: AsyncThrowingStream(unfolding: {
                try await Task.sleep(for: .milliseconds(20))
                return ByteBuffer(string: "picture")
            }))
    }

    func status() async throws -> StatusResponse {
        try note()
        return StatusResponse(
            uptime: 1, link: LinkState(.online, cause: "connected", reason: nil, since: 0, accessId: "owner"),
            hub: HubState(enabled: false, ready: false, endpoint: nil), broker: nil, cameras: 0, channels: 0)
    }

    func register() async throws -> LinkState {
        try note()
        return LinkState(.online, cause: "connected", reason: nil, since: 0, accessId: "owner")
    }

    func unregister() async throws -> LinkState {
        try note()
        return LinkState(.unregistering, cause: "unregistered", reason: nil, since: 0, accessId: "owner")
    }

    func metrics() async throws -> [MetricSample] {
        try note()
        return [MetricSample("a", .gauge, 1)]
    }

    func cameras() async throws -> [CameraDescription] {
        try note()
        return []
    }

    func addCamera(_ request: CameraRequest) async throws -> CameraDescription {
        try note()
        return Self.camera(request.name)
    }

    private static func camera(_ name: String) -> CameraDescription {
        CameraDescription(
            name: name, device: nil, url: "", state: .connecting, since: 0, viewers: 0, viewerLimit: 8)
    }

    func camera(_ name: String) async throws -> CameraDescription {
        try note()
        return Self.camera(name)
    }

    func changeCamera(_ name: String, _ change: CameraChange) async throws -> CameraDescription {
        try note()
        return Self.camera(name)
    }

    func testCamera(_ request: CameraTestRequest) async throws -> CameraTestReport {
        try note()
        return CameraTestReport(url: "", tracks: [], unsupportedTracks: [], measuredSeconds: 0)
    }

    func picture(of device: String, _ bounds: PictureBounds?) async throws -> iotvideod.Snapshot {
        try note()
        return Snapshot(format: .jpeg, pts: 0, bytes: ByteBuffer(string: "picture"))
    }

    func removeCamera(_ name: String) async throws { try note() }

    func reload() async throws -> ReloadResponse {
        try note()
        return ReloadResponse()
    }

    func users(_ page: PageRequest) async throws -> Page<UserDescription> {
        try note()
        return Page([])
    }

    func createUser(_ user: AccessID, kind: AccountKind, requestID: String?) async throws -> UserResponse {
        try note()
        return UserResponse(accessId: user.rawValue, kind: kind)
    }

    func createTemporaryUser(
        _ request: TemporaryUserRequest, requestID: String?
    ) async throws -> TemporaryUserResponse {
        try note()
        return TemporaryUserResponse(accessId: "temporary-1", expires: 1)
    }

    func removeUser(_ user: AccessID, requestID: String?) async throws { try note() }

    func bindings(_ device: String, _ page: PageRequest) async throws -> Page<BindingDescription> {
        try note()
        return Page([])
    }

    func share(_ device: String, _ request: ShareRequest, requestID: String?) async throws -> ShareResponse {
        try note()
        return ShareResponse(token: "secret.of.token", actions: [.view], expires: 1)
    }

    func subscribe(_ request: SubscriptionRequest, requestID: String?) async throws -> BindingResponse {
        try note()
        return BindingResponse(device: "d", user: "a", role: .guest, actions: [.view])
    }

    func bind(
        _ device: String, _ user: AccessID, _ request: BindingRequest, requestID: String?
    ) async throws -> BindingResponse {
        try note()
        return BindingResponse(device: device, user: user.rawValue, role: request.role ?? .guest, actions: [.view])
    }

    func unbind(_ device: String, _ user: AccessID, requestID: String?) async throws { try note() }

    func tokens(_ page: PageRequest) async throws -> Page<TokenDescription> {
        try note()
        return Page([])
    }

    func createToken(_ request: TokenRequest, requestID: String?) async throws -> TokenResponse {
        try note()
        return TokenResponse(id: "1", kind: request.kind, token: "secret.of.token", expires: 1)
    }

    func revokeToken(_ id: String) async throws { try note() }

    func keys(_ page: PageRequest) async throws -> Page<KeyDescription> {
        try note()
        return Page([])
    }

    func createKey(_ request: KeyRequest, requestID: String?) async throws -> KeyResponse {
        try note()
        return KeyResponse(id: "0123456789", name: request.name, key: RouterFixture.key, expires: 1)
    }

    func revokeKey(_ id: String, requestID: String?) async throws { try note() }

    func devices(of user: AccessID?, _ page: PageRequest) async throws -> Page<DeviceSummary> {
        try note()
        return Page([])
    }

    func createDevice(_ request: DeviceRequest, requestID: String?) async throws -> DeviceResponse {
        try note()
        return DeviceResponse(device: "d", name: request.name)
    }

    func renameDevice(_ device: String, to name: String, requestID: String?) async throws { try note() }
    func removeDevice(_ device: String, requestID: String?) async throws { try note() }

    func export(_ device: String) async throws -> DeviceExport {
        try note()
        return DeviceExport(id: device, name: device, schema: .null, model: [:], versions: [:])
    }

    func device(_ device: String) async throws -> DeviceDetail {
        try note()
        throw error
    }

    func readProperties(of devices: [String], path: String) async throws -> [DeviceReading] {
        try note()
        return devices.map { DeviceReading(device: $0, name: $0, value: .null, version: 1) }
    }

    func readProperties(_ page: PageRequest, path: String) async throws -> Page<DeviceReading> {
        try note()
        return Page([])
    }

    func readProperty(_ device: String, path: String) async throws -> PropertyResponse {
        try note()
        return PropertyResponse(value: .null, version: 1)
    }

    func writeProperty(
        _ device: String, path: String, value: JSONValue, ifVersion version: Int64?, requestID: String?
    ) async throws -> PropertyWriteResponse {
        try note()
        return PropertyWriteResponse(version: 1, value: value, pending: false)
    }

    func watchProperties(_ device: String, path: String) async throws -> AsyncStream<DeviceEvent> {
        try note()
        return AsyncStream { $0.finish() }
    }

    func takeAction(
        _ device: String, path: String, value: JSONValue, timeout: Duration, requestID: String?
    ) async throws -> ActionResponse {
        try note()
        return ActionResponse(value: .null)
    }

    func addUserProperty(
        _ device: String, name: String, value: JSONValue, requestID: String?
    ) async throws -> VersionResponse {
        try note()
        return VersionResponse(version: 1)
    }

    func deleteUserProperty(_ device: String, name: String, requestID: String?) async throws -> VersionResponse {
        try note()
        return VersionResponse(version: 1)
    }

    func sendMessage(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> MessageResponse {
        try note()
        return MessageResponse(responses: [MessageData(data: message.data)])
    }

    func messageEvents(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> AsyncStream<MessageEvent> {
        try note()
        return AsyncStream { $0.finish() }
    }

    func askServer(_ request: ServerMessageRequest, requestID: String?) async throws -> MessageData {
        try note()
        return MessageData(data: "")
    }

    func storedEvents(_ query: StoredEventQuery) async throws -> StoredEventList {
        try note()
        return StoredEventList(events: [], more: false)
    }

    func deleteStoredEvents(_ deletion: StoredEventDeletion) async throws -> StoredEventDeletionResponse {
        try note()
        return StoredEventDeletionResponse(deleted: 0)
    }

    func events(
        _ kinds: Set<GatewayEvent.Kind>, device: String?, after lastID: String?
    ) async throws -> AsyncStream<NumberedEvent> {
        try note()
        guard device != "silent" else {
            return AsyncStream(unfolding: {
                try? await Task.sleep(for: .seconds(3600))
                return nil
            })
        }
        return AsyncStream { $0.finish() }
    }

    func openChannel(_ request: ChannelRequest) async throws -> ChannelDescription {
        try note()
        throw error
    }

    func channels(_ page: PageRequest) async throws -> Page<ChannelDescription> {
        try note()
        return Page([])
    }

    func channel(_ id: String) async throws -> ChannelDescription {
        try note()
        throw error
    }

    func channelEvents(_ id: String) async throws -> AsyncStream<ChannelUpdate> {
        try note()
        throw error
    }

    func play(_ id: String) async throws -> ChannelDescription {
        try note()
        throw error
    }

    func closeChannel(_ id: String) async throws -> ChannelDescription {
        try note()
        throw error
    }

    func openBrowserCall(_ device: String, offer: String) async throws -> RelayedCalls.Answer {
        try note()
        return RelayedCalls.Answer(
            id: "00ff", description: "v=0\r\n",
            iceServers: [
                try ICEServer(urls: ["stun:192.0.2.1:3478"]),
                try ICEServer(urls: ["turn:192.0.2.1?transport=udp"], username: "1:a", credential: "b+/="),
            ])
    }

    func iceServers(_ device: String) async throws -> [ICEServer] {
        try note()
        return [try ICEServer(urls: ["stun:192.0.2.1:3478"])]
    }

    func trickle(_ id: String, iceUfrag: String?, candidates: [String]) async throws { try note() }
    func closeBrowserCall(_ id: String) async throws { try note() }

    func snapshot(_ id: String, format: SnapshotFormat) async throws -> iotvideod.Snapshot {
        try note()
        throw error
    }

    func recording(_ id: String, frames: Int?) async throws -> MediaBody {
        try note()
        guard id == "endless" else { throw error }
        return media("video/mp4")
    }

    func rawVideo(_ id: String, frames: Int?) async throws -> MediaBody {
        try note()
        if id == "short" {
            var body = MediaBody(contentType: "video/x-yuv4mpeg", bytes: ByteBuffer(string: "picture"))
            body.contentLength = nil
            body.framesDropped = { 3 }
            return body
        }
        guard id == "endless" else { throw error }
        return media("video/mp4")
    }

    func rawAudio(_ id: String, frames: Int?) async throws -> MediaBody {
        try note()
        guard id == "endless" else { throw error }
        return media("video/mp4")
    }

    func resource(_ token: String) async throws -> MediaBody {
        try note()
        throw error
    }
}
