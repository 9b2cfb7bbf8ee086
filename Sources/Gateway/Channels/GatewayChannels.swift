package import GatewayAPI
package import IoTCore
package import NIOCore

/// Channels to devices. They belong to the account that opened them; other accounts cannot see them.
package protocol GatewayChannels: Sendable {
    /// Returns when the channel is connected and its tracks are known. The gateway closes a channel that no response
    /// has used for `channels.idleTimeout`, so that dead clients leave no channels behind.
    func open(_ request: ChannelRequest) async throws -> ChannelDescription
    func list(_ page: PageRequest) async throws -> Page<ChannelDescription>
    func show(_ id: String) async throws -> ChannelDescription
    /// Yields the current state, then each change, and finally `.end`.
    func events(_ id: String) async throws -> AsyncStream<ChannelUpdate>
    /// Starts the media; a second call does nothing.
    func play(_ id: String) async throws -> ChannelDescription
    /// Changes the channel's definition and the camera that it shows, when the device has done so; then how the caller
    /// sees and hears it.
    func change(_ id: String, _ change: ChannelSettings) async throws -> ChannelDescription
    /// Changes what a playback channel plays, and how.
    func changePlayback(_ id: String, _ request: PlaybackRequest) async throws -> ChannelDescription
    /// Shows the next picture, and pauses.
    func stepPlayback(_ id: String) async throws -> ChannelDescription
    /// Talks to the device: plays the sound while it comes, until its end.
    func talk(_ id: String, _ sound: MediaInput) async throws -> TalkReport
    /// Ends the channel's talk; has no effect without one.
    func stopTalk(_ id: String) async throws -> ChannelDescription
    /// Closes the channel in order: every open body delivers its complete data (a recording its last fragment) and
    /// ends. The response contains the final statistics.
    func close(_ id: String) async throws -> ChannelDescription

    // MARK: Data

    /// Sends a message, or asks the device and returns its responses.
    func send(_ id: String, _ message: ChannelMessage) async throws -> MessageResponse
    /// Asks the device, and returns its responses while they come, as server-sent events (`MessageEvent`).
    func responses(_ id: String, _ message: ChannelMessage) async throws -> MediaBody
    /// The device's messages while they come, as server-sent events (`ChannelDataEvent`).
    func messages(_ id: String) async throws -> MediaBody
    /// Sends messages in order, the next one when the one before has room.
    func stream(
        _ id: String, _ messages: any AsyncSequence<ByteBuffer, any Error> & Sendable
    ) async throws -> DataReport

    // MARK: Media
    //
    // Each body takes part from the moment its method returns, even before `play`, so that it contains the first frame.
    // A body ends when its channel closes and throws when it cannot continue. Cancelling its iteration or dropping it
    // releases it.

    /// Waits for the next picture.
    func snapshot(_ id: String, format: SnapshotFormat, fit: PictureFit?) async throws -> Picture
    /// Fragmented MP4. Ends after `frames` pictures, if set.
    func recording(_ id: String, frames: Int?) async throws -> MediaBody
    /// Y4M. Ends after `frames` pictures, if set.
    func rawVideo(_ id: String, frames: Int?, fit: PictureFit?) async throws -> MediaBody
    /// WAV. Ends with the last of `frames` pictures, if set.
    func rawAudio(_ id: String, frames: Int?) async throws -> MediaBody
    /// The frames of one track as they pass one point of the player, for at most a minute.
    func dump(_ id: String, _ part: DumpPart) async throws -> MediaBody
    /// The picture that the result of one of the account's actions named.
    func resource(_ name: String) async throws -> MediaBody
}
