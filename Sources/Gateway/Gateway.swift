package import GatewayAPI
package import IoTCore
package import MediaChannel
package import PeerTransport

/// What the HTTP API needs of the gateway behind it, as one caller may use it.
///
/// A `device` is an id or a name, as the client wrote it. Every failure is an `IoTError`; anything else is answered
/// as 25000. `RouteRights` was looked at before; which devices and channels the caller may use is judged here and by
/// the hub.
package protocol Gateway: Sendable {
    func status() async throws -> StatusResponse

    // MARK: This daemon
    /// Registers the daemon's account with its hub again, and says what came of it.
    func register() async throws -> LinkState
    func unregister() async throws -> LinkState
    func metrics() async throws -> [MetricSample]
    func cameras() async throws -> [CameraDescription]
    func addCamera(_ request: CameraRequest) async throws -> CameraDescription
    func camera(_ name: String) async throws -> CameraDescription
    func changeCamera(_ name: String, _ change: CameraChange) async throws -> CameraDescription
    func removeCamera(_ name: String) async throws
    /// Tries a source without adding it; throws why it does not work.
    func testCamera(_ request: CameraTestRequest) async throws -> CameraTestReport
    func reload() async throws -> ReloadResponse

    // MARK: Accounts, rights, tokens
    func users(_ page: PageRequest) async throws -> Page<UserDescription>
    func createUser(_ user: AccessID, kind: AccountKind, requestID: String?) async throws -> UserResponse
    func createTemporaryUser(
        _ request: TemporaryUserRequest, requestID: String?
    ) async throws -> TemporaryUserResponse
    func removeUser(_ user: AccessID, requestID: String?) async throws
    func bindings(_ device: String, _ page: PageRequest) async throws -> Page<BindingDescription>
    func share(_ device: String, _ request: ShareRequest, requestID: String?) async throws -> ShareResponse
    func subscribe(_ request: SubscriptionRequest, requestID: String?) async throws -> BindingResponse
    func bind(
        _ device: String, _ user: AccessID, _ request: BindingRequest, requestID: String?
    ) async throws -> BindingResponse
    func unbind(_ device: String, _ user: AccessID, requestID: String?) async throws
    func tokens(_ page: PageRequest) async throws -> Page<TokenDescription>
    func createToken(_ request: TokenRequest, requestID: String?) async throws -> TokenResponse
    func revokeToken(_ id: String) async throws
    func keys(_ page: PageRequest) async throws -> Page<KeyDescription>
    func createKey(_ request: KeyRequest, requestID: String?) async throws -> KeyResponse
    func revokeKey(_ id: String, requestID: String?) async throws

    // MARK: Devices
    /// Of the caller's account, or of another for an administrator.
    func devices(of user: AccessID?, _ page: PageRequest) async throws -> Page<DeviceSummary>
    func createDevice(_ request: DeviceRequest, requestID: String?) async throws -> DeviceResponse
    func renameDevice(_ device: String, to name: String, requestID: String?) async throws
    func removeDevice(_ device: String, requestID: String?) async throws
    func export(_ device: String) async throws -> DeviceExport
    func device(_ device: String) async throws -> DeviceDetail
    func readProperties(of devices: [String], path: String) async throws -> [DeviceReading]
    /// Of all devices that the caller may view.
    func readProperties(_ page: PageRequest, path: String) async throws -> Page<DeviceReading>
    /// `path` `""` is the whole model.
    func readProperty(_ device: String, path: String) async throws -> PropertyResponse
    /// - Parameter requestID: the client's idempotency key; `nil` lets the gateway make one.
    /// - Throws: `.versionConflict` when `version` is given and is not the present one.
    func writeProperty(
        _ device: String, path: String, value: JSONValue, ifVersion version: Int64?, requestID: String?
    ) async throws -> PropertyWriteResponse
    /// First the present value, then every change below `path`. Cancelling the iteration ends the watch.
    func watchProperties(_ device: String, path: String) async throws -> AsyncStream<DeviceEvent>
    func takeAction(
        _ device: String, path: String, value: JSONValue, timeout: Duration, requestID: String?
    ) async throws -> ActionResponse
    /// Adds, or replaces one of the same name.
    func addUserProperty(
        _ device: String, name: String, value: JSONValue, requestID: String?
    ) async throws -> VersionResponse
    func deleteUserProperty(_ device: String, name: String, requestID: String?) async throws -> VersionResponse

    // MARK: Messages and events
    func sendMessage(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> MessageResponse
    /// Each response of the device as it comes, to `.end` or `.failed`.
    func messageEvents(
        _ device: String, _ message: DeviceMessage, requestID: String?
    ) async throws -> AsyncStream<MessageEvent>
    func askServer(_ request: ServerMessageRequest, requestID: String?) async throws -> MessageData
    func storedEvents(_ query: StoredEventQuery) async throws -> StoredEventList
    func deleteStoredEvents(_ deletion: StoredEventDeletion) async throws -> StoredEventDeletionResponse
    /// From now on, or behind the event of `lastID`.
    func events(
        _ kinds: Set<GatewayEvent.Kind>, device: String?, after lastID: String?
    ) async throws -> AsyncStream<NumberedEvent>

    // MARK: Channels
    //
    // Channels belong to the account that opened them; for others there are none.

    /// Returns when the channel is connected and its tracks are known. A channel that no response uses for
    /// `channels.idleTimeout` is closed by the gateway, so that a client that was killed leaks none.
    func openChannel(_ request: ChannelRequest) async throws -> ChannelDescription
    func channels(_ page: PageRequest) async throws -> Page<ChannelDescription>
    func channel(_ id: String) async throws -> ChannelDescription
    /// First the present state, then each change, to `.end`.
    func channelEvents(_ id: String) async throws -> AsyncStream<ChannelUpdate>
    /// Starts the media; a second call does nothing.
    func play(_ id: String) async throws -> ChannelDescription
    /// Ends the channel in order: every body that is open delivers what is complete (a recording its last fragment)
    /// and then ends; the answer holds the final statistics.
    func closeChannel(_ id: String) async throws -> ChannelDescription

    // MARK: Browsers
    //
    // Calls whose media do not pass here belong to the account that made them; for others there are none.

    /// What helps a browser that may view the device to find the way to it, before it has called.
    func iceServers(_ device: String) async throws -> [ICEServer]
    /// Calls a camera with a browser's offer.
    func openBrowserCall(_ device: String, offer: String) async throws -> RelayedCalls.Answer
    /// - Parameters:
    ///   - iceUfrag: whose candidates they are, where the browser said so.
    ///   - candidates: as `candidate:…`; an empty one ends them.
    func trickle(_ id: String, iceUfrag: String?, candidates: [String]) async throws
    func closeBrowserCall(_ id: String) async throws

    // MARK: Media of a channel
    //
    // Each of these takes part from the moment it returns, also before `play`, so that the first frame is in it.
    // A body ends when its channel closes, throws when it cannot go on, and is released by cancelling its iteration
    // or by dropping it.

    /// Waits for the next picture.
    func snapshot(_ id: String, format: SnapshotFormat) async throws -> Picture
    /// Fragmented MP4; ends behind `frames` pictures when that is given.
    func recording(_ id: String, frames: Int?) async throws -> MediaBody
    /// Y4M; ends behind `frames` pictures when that is given.
    func rawVideo(_ id: String, frames: Int?) async throws -> MediaBody
    /// WAV; ends where `frames` pictures end when that is given.
    func rawAudio(_ id: String, frames: Int?) async throws -> MediaBody
    /// The newest picture of a device as a JPEG, without a channel of the caller's.
    func picture(of device: String, _ bounds: PictureBounds?) async throws -> Picture
    /// What an action's result named.
    func resource(_ token: String) async throws -> MediaBody
}

/// A message for a device, whose parts were checked.
package struct DeviceMessage: Sendable {
    /// Base64.
    package var data: String
    package var responses: MessageResponses
    package var timeout: Duration
    package var wake: Bool?

    package init(data: String, responses: MessageResponses, timeout: Duration, wake: Bool?) {
        self.data = data
        self.responses = responses
        self.timeout = timeout
        self.wake = wake
    }
}

/// What of the stored events is wanted.
package struct StoredEventQuery: Sendable {
    package var device: String?
    /// A prefix.
    package var topic: String?
    /// ms since 1970.
    package var from: Int64?
    package var to: Int64?
    /// An event's id; older ones are wanted.
    package var before: Int64?
    package var limit: Int64?

    package init(device: String?, topic: String?, from: Int64?, to: Int64?, before: Int64?, limit: Int64?) {
        self.device = device
        self.topic = topic
        self.from = from
        self.to = to
        self.before = before
        self.limit = limit
    }
}
