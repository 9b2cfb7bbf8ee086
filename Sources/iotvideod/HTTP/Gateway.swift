import GatewayAPI
import IoTCore

/// What the HTTP API needs of the gateway behind it.
///
/// A `device` is an id or a name, as the client wrote it. Every failure is an `IoTError`; anything else is answered
/// as 25000. Who may reach the socket acts as the owner.
protocol Gateway: Sendable {
    func status() async throws -> StatusResponse
    func cameras() async throws -> [CameraDescription]

    // MARK: Devices
    func devices() async throws -> [DeviceSummary]
    func device(_ device: String) async throws -> DeviceDetail
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

    // MARK: Channels
    /// Returns when the channel is connected and its tracks are known. A channel that no response uses for
    /// `channels.idleTimeout` is closed by the gateway, so that a client that was killed leaks none.
    func openChannel(_ request: ChannelRequest) async throws -> ChannelDescription
    func channels() async throws -> [ChannelDescription]
    func channel(_ id: String) async throws -> ChannelDescription
    /// First the present state, then each change, to `.end`.
    func channelEvents(_ id: String) async throws -> AsyncStream<ChannelUpdate>
    /// Starts the media; a second call does nothing.
    func play(_ id: String) async throws -> ChannelDescription
    /// Ends the channel in order: every body that is open delivers what is complete (a recording its last fragment)
    /// and then ends; the answer holds the final statistics.
    func closeChannel(_ id: String) async throws -> ChannelDescription

    // MARK: Media of a channel
    //
    // Each of these takes part from the moment it returns, also before `play`, so that the first frame is in it.
    // A body ends when its channel closes, throws when it cannot go on, and is released by cancelling its iteration
    // or by dropping it.

    /// Waits for the next picture.
    func snapshot(_ id: String, format: SnapshotFormat) async throws -> Snapshot
    /// Fragmented MP4.
    func recording(_ id: String) async throws -> MediaBody
    /// Y4M; ends behind `frames` pictures when that is given.
    func rawVideo(_ id: String, frames: Int?) async throws -> MediaBody
    /// WAV.
    func rawAudio(_ id: String) async throws -> MediaBody
    /// What an action's result named.
    func resource(_ token: String) async throws -> MediaBody

    /// Ends every open body and event stream in order, as `closeChannel` does; the daemon is stopping.
    func prepareToStop() async
}
