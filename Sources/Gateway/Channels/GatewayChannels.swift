package import GatewayAPI

/// Channels to devices, which belong to the account that opened them; for others there are none.
package protocol GatewayChannels: Sendable {
    /// Returns when the channel is connected and its tracks are known. A channel that no response uses for
    /// `channels.idleTimeout` is closed by the gateway, so that a client that was killed leaks none.
    func open(_ request: ChannelRequest) async throws -> ChannelDescription
    func list(_ page: PageRequest) async throws -> Page<ChannelDescription>
    func show(_ id: String) async throws -> ChannelDescription
    /// First the present state, then each change, to `.end`.
    func events(_ id: String) async throws -> AsyncStream<ChannelUpdate>
    /// Starts the media; a second call does nothing.
    func play(_ id: String) async throws -> ChannelDescription
    /// Ends the channel in order: every body that is open delivers what is complete (a recording its last fragment)
    /// and then ends; the answer holds the final statistics.
    func close(_ id: String) async throws -> ChannelDescription

    // MARK: Media
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
    /// The picture that the result of an action of the account's named.
    func resource(_ name: String) async throws -> MediaBody
}
